// A walk over a file's pages finds what LMDB would fall over, and says where; the cheap look of every open
// finds it in roots and small files.
#include "engine/file/page_walk.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "engine/file/environment.h"
#include "engine/file/page_layout.h"
#include "engine/file/snapshot_pages.h"
#include "tests/engine/file/temporary_folder.h"
#include "tests/file_bytes.h"

namespace quire::engine {
namespace {

namespace layout = engine::layout;

constexpr size_t kPage = layout::kUsualPage;

class PageWalkTest : public testing::Test {
 protected:
  void SetUp() override {
    auto environment = value_of(Environment::open(path_));
    const auto fill = [&](WriteTransaction& transaction) -> Result<void> {
      QUIRE_ASSIGN(const Table table, transaction.create_table("t"));
      for (int i = 0; i < 5000; ++i)
        QUIRE_TRY(transaction.put(table, "key " + std::to_string(i), std::string(200, 'v')));
      return transaction.put(table, "long", std::string(20'000, 'l'));
    };
    ASSERT_TRUE(succeeds(environment->write(fill)));
    // A second commit, so that there are free pages.
    ASSERT_TRUE(succeeds(environment->write([&](WriteTransaction& transaction) -> Result<void> {
      QUIRE_ASSIGN(const auto table, transaction.open_table("t"));
      for (int i = 0; i < 500; ++i) QUIRE_TRY(transaction.erase(*table, "key " + std::to_string(i)));
      return {};
    })));
    environment.reset();
    load();
    ASSERT_GT(bytes_.size() / kPage, kPagesAlwaysWalked);
  }

  void load() { bytes_ = tests::file_bytes(path_); }
  char* page(size_t number) { return bytes_.data() + number * kPage; }
  layout::Meta newest() {
    return std::max(*layout::parse_meta(page(0)), *layout::parse_meta(page(1)),
                    [](const auto& a, const auto& b) { return a.transaction < b.transaction; });
  }
  // Of the tree of table "t".
  layout::Tree tree() {
    char* main = page(newest().main.root);
    for (size_t i = 0;; ++i) {
      const layout::Node node{main + layout::load<uint16_t>(main + layout::kPageHeader + 2 * i)};
      if (node.key() == "t") return layout::parse_tree(node.data());
    }
  }
  size_t leaf() { return node(tree().root, 1).child(); }
  layout::Node node(size_t number, size_t index) {
    char* at = page(number);
    return {at + layout::load<uint16_t>(at + layout::kPageHeader + 2 * index)};
  }
  template <typename Number>
  void put(const char* at, Number number) {
    std::memcpy(const_cast<char*>(at), &number, sizeof number);
  }

  Result<std::unique_ptr<Environment>> open(bool is_untrusted) {
    std::filesystem::remove(path_ + "-lock");
    std::ofstream(path_, std::ios::binary) << bytes_;
    return Environment::open(path_, {.is_untrusted = is_untrusted});
  }
  void expect_fault(std::string_view part) {
    EXPECT_TRUE(fails_with(open(true), ErrorCode::corrupt, part));
    EXPECT_TRUE(fails_with(open(true), ErrorCode::corrupt, "`.recover`"));
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.path("a.quire");
  std::string bytes_;
};

TEST_F(PageWalkTest, ASoundFileHasNoFaults) {
  auto environment = open(true);
  ASSERT_TRUE(succeeds(environment));
  EXPECT_TRUE(value_of((*environment)->check_pages(100, nullptr)).empty());
  EXPECT_TRUE(succeeds(Environment::open(path_, {.is_untrusted = true})));
}

TEST_F(PageWalkTest, TheFaultOfALeafIsNamed) {
  put(page(leaf()), uint64_t{7});
  expect_fault("of table 't': it says that it is page 7");
}
TEST_F(PageWalkTest, APageOfAnotherKindIsAFault) {
  put(page(leaf()) + 10, uint16_t{layout::kOverflowPage});
  expect_fault("its flags are 0x4");
}
TEST_F(PageWalkTest, ABranchPageMustNotStandForALeaf) {
  const uint64_t root = tree().root;
  put(node(root, 1).at, static_cast<uint32_t>(root));
  expect_fault("is used elsewhere too");
}
TEST_F(PageWalkTest, TheBoundsOfNodesAreLookedAt) {
  put(page(leaf()) + 12, uint16_t{0xFFFF});
  expect_fault("its table of nodes ends at 65535");
}
TEST_F(PageWalkTest, ANodeMustLieInItsPage) {
  put(page(leaf()) + layout::kPageHeader, uint16_t{4094});
  expect_fault("node 0 reaches past the page");
}
TEST_F(PageWalkTest, ALongKeyMustLieInItsPage) {
  put(node(leaf(), 3).at + 6, uint16_t{0xFFFF});
  expect_fault("node 3 reaches past the page");
}
TEST_F(PageWalkTest, NodesMustNotOverlap) {
  const char* table = page(leaf()) + layout::kPageHeader;
  put(table, layout::load<uint16_t>(table + 2));
  expect_fault("where another one is");
}
TEST_F(PageWalkTest, KeysMustBeInTheirOrder) {
  put(node(leaf(), 2).at + layout::kNodeHeader, 'z');
  expect_fault("is not behind the one before it");
}
TEST_F(PageWalkTest, KeysMustLieBetweenThoseThatLeadToThem) {
  const size_t number = leaf();
  const size_t nodes = (layout::load<uint16_t>(page(number) + 12) - layout::kPageHeader) / 2;
  put(node(number, nodes - 1).at + layout::kNodeHeader, 'z');
  expect_fault("not between those of the page that leads to it");
}
TEST_F(PageWalkTest, AChildMustBeInTheFile) {
  put(node(tree().root, 1).at, uint32_t{0xFFFFFFF});
  expect_fault("is not one that can be used");
}
TEST_F(PageWalkTest, AFreePageMustNotBeInATree) {
  const layout::Node entry = node(newest().free_list.root, 0);
  ASSERT_FALSE(entry.is_on_pages());
  const auto free = layout::load<uint64_t>(entry.data() + 8);
  put(node(tree().root, 1).at, static_cast<uint32_t>(free));
  expect_fault("");
}
TEST_F(PageWalkTest, CountsOfATreeMustBeRight) {
  const layout::Tree found = tree();
  for (size_t at = 0; at + sizeof found.entries <= bytes_.size(); ++at)
    if (layout::load<uint64_t>(bytes_.data() + at) == found.entries &&
        layout::load<uint64_t>(bytes_.data() + at + 8) == found.root)
      put(bytes_.data() + at, uint64_t{1});
  expect_fault("its tree is said to have 1 entries; there are 4501");
}
TEST_F(PageWalkTest, LongDataMustBeWhole) {
  for (size_t number = layout::kMetaPages; number < bytes_.size() / kPage; ++number)
    if (layout::page_flags(page(number)) == layout::kOverflowPage) put(page(number) + 12, uint32_t{1});
  expect_fault("does not begin 20000 bytes of long data");
}

TEST_F(PageWalkTest, EveryOpenLooksAtTheRoots) {
  put(page(tree().root) + 12, uint16_t{3});
  EXPECT_TRUE(fails_with(open(false), ErrorCode::corrupt, "of table 't'"));
}
TEST_F(PageWalkTest, OnlyAnUntrustedOpenLooksAtEachPageOfALargeFile) {
  put(page(leaf()), uint64_t{7});
  EXPECT_TRUE(succeeds(open(false)));
  EXPECT_TRUE(fails_with(open(true), ErrorCode::corrupt));
}
TEST_F(PageWalkTest, AFileThatIsOpenCanBeAskedForUntrusted) {
  put(page(leaf()), uint64_t{7});
  const auto trusting = open(false);
  ASSERT_TRUE(succeeds(trusting));
  EXPECT_TRUE(fails_with(Environment::open(path_, {.is_untrusted = true}), ErrorCode::corrupt));
}
// Of two meta pages that say they are of one commit, LMDB reads the one that the number stands for.
TEST_F(PageWalkTest, TheMetaPageThatIsReadIsTheOneLookedAt) {
  for (int round = 0; round < 2; ++round) {
    const std::string sound = bytes_;
    const layout::Meta meta = newest();
    const uint64_t other = 1 - layout::meta_page_of(meta.transaction);
    put(page(other) + layout::kPageHeader + 128, meta.transaction);
    EXPECT_TRUE(succeeds(open(true))) << meta.transaction;
    put(page(meta.main.root) + 12, uint16_t{3});
    EXPECT_TRUE(fails_with(open(true), ErrorCode::corrupt)) << meta.transaction;
    EXPECT_TRUE(fails_with(open(false), ErrorCode::corrupt)) << meta.transaction;
    bytes_ = sound;
    auto environment = value_of(open(false));
    ASSERT_TRUE(succeeds(environment->write([](WriteTransaction& transaction) -> Result<void> {
      QUIRE_ASSIGN(const auto table, transaction.open_table("t"));
      return transaction.put(*table, "one", "more");
    })));
    environment.reset();
    load();
  }
}

TEST_F(PageWalkTest, ADamagedMetaPageIsNamed) {
  const std::string sound = bytes_;
  for (const size_t meta : {size_t{0}, size_t{1}}) {
    bytes_ = sound;
    put(page(meta) + layout::kPageHeader, uint32_t{0});
    EXPECT_TRUE(
        fails_with(open(false), ErrorCode::corrupt, "page " + std::to_string(meta) + " does not say"));
  }
}
TEST_F(PageWalkTest, ACommitThatCannotBeIsDamage) {
  const std::string sound = bytes_;
  const uint64_t commit = newest().transaction;
  // The last that can be counted; one that LMDB would look for on the other page.
  for (const uint64_t wrong : {~uint64_t{0} - 1 + commit % 2, commit + 1}) {
    bytes_ = sound;
    put(page(commit % 2) + layout::kPageHeader + 128, wrong);
    EXPECT_TRUE(fails_with(open(false), ErrorCode::corrupt, "cannot be that of commit")) << wrong;
  }
}
TEST_F(PageWalkTest, PagesFreedByACommitThatHasNotComeAreDamage) {
  const std::string sound = bytes_;
  const uint64_t root = newest().free_list.root;
  const size_t last = (layout::load<uint16_t>(page(root) + 12) - layout::kPageHeader) / 2 - 1;
  const uint64_t next = newest().transaction + 1;
  for (const auto& [index, commit] : {std::pair{size_t{0}, uint64_t{0}}, std::pair{last, next}}) {
    bytes_ = sound;
    put(node(root, index).key().data(), commit);
    expect_fault("its pages were freed by commit " + std::to_string(commit));
  }
}

}  // namespace
}  // namespace quire::engine
