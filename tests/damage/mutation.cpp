#include "tests/damage/mutation.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "engine/container/record.h"
#include "engine/file/commit_log.h"
#include "engine/file/page_layout.h"

namespace quire::tests {
namespace {

namespace layout = engine::layout;

constexpr size_t kPage = layout::kUsualPage;

class Mutator {
 public:
  Mutator(std::string& file, uint64_t seed) : file_(file), random_(seed) {}

  std::string run() {
    std::string done;
    for (uint64_t count = 1 + below(3); count > 0; --count) {
      if (file_.size() < 3 * kPage) break;
      const Way& way = kWays[below(kWays.size())];
      (this->*way.apply)();
      done += fmt::format("{}{}", done.empty() ? "" : ", ", way.name);
    }
    return done;
  }

 private:
  struct Way {
    std::string_view name;
    void (Mutator::*apply)();
  };
  static const std::array<Way, 16> kWays;

  uint64_t below(uint64_t bound) { return bound == 0 ? 0 : random_() % bound; }
  size_t pages() const { return file_.size() / kPage; }
  char* page(size_t number) { return file_.data() + number * kPage; }

  // A number that is likely to hurt.
  uint64_t number() {
    constexpr uint64_t kOdd[] = {0,     1,      2,      15,     16,         17,        0xFF,
                                 0xFFF, 0x1000, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF};
    switch (below(5)) {
      case 0:
        return ~uint64_t{0} - below(3);
      case 1:
        return below(pages() + 2);
      case 2:
        return random_();
      case 3:
        return below(kPage + 2);
      default:
        return kOdd[below(std::size(kOdd))];
    }
  }
  void put(char* at, size_t bytes, uint64_t value) { std::memcpy(at, &value, bytes); }
  // A new value, or the old one with a bit flipped or a little more or less.
  void change(char* at, size_t bytes) {
    uint64_t value = 0;
    std::memcpy(&value, at, bytes);
    switch (below(4)) {
      case 0:
        value ^= uint64_t{1} << below(8 * bytes);
        break;
      case 1:
        value += below(9) - 4;
        break;
      default:
        value = number();
    }
    put(at, bytes, value);
  }

  // Of a page of that kind, if one is met soon.
  std::optional<size_t> find_page(uint16_t flags) {
    for (int tries = 0; tries < 200; ++tries) {
      const size_t found = layout::kMetaPages + below(pages() - layout::kMetaPages);
      if (layout::page_flags(page(found)) == flags) return found;
    }
    return std::nullopt;
  }
  // Where a node of such a page begins, within the file.
  std::optional<size_t> find_node(uint16_t flags) {
    const auto found = find_page(flags);
    if (!found) return std::nullopt;
    const size_t table_end = layout::load<uint16_t>(page(*found) + 12);
    if (table_end <= layout::kPageHeader || table_end > kPage) return std::nullopt;
    const size_t nodes = (table_end - layout::kPageHeader) / 2;
    const size_t at = layout::load<uint16_t>(page(*found) + layout::kPageHeader + 2 * below(nodes));
    if (at + layout::kNodeHeader + 64 > kPage) return std::nullopt;
    return *found * kPage + at;
  }
  // The data of a leaf's node that lies in its page.
  std::span<char> find_data() {
    const auto at = find_node(layout::kLeafPage);
    if (!at) return {};
    const layout::Node node{file_.data() + *at};
    const size_t data = *at + layout::kNodeHeader + node.key_bytes();
    const size_t end = (*at / kPage + 1) * kPage;
    if (node.flags() != 0 || data >= end || node.data_bytes() > end - data) return {};
    return {file_.data() + data, node.data_bytes()};
  }

  void flip_bits() {
    for (uint64_t count = 1 + below(8); count > 0; --count)
      file_[below(file_.size())] ^= static_cast<char>(1 << below(8));
  }
  void change_header() {
    constexpr std::pair<size_t, size_t> kFields[] = {{0, 8}, {8, 2}, {10, 2}, {12, 2}, {14, 2}, {12, 4}};
    const auto [at, bytes] = kFields[below(std::size(kFields))];
    change(page(below(pages())) + at, bytes);
  }
  void change_place() {
    if (const auto found = find_page(below(4) == 0 ? layout::kBranchPage : layout::kLeafPage))
      change(page(*found) + layout::kPageHeader + 2 * below(20), 2);
  }
  void change_node() {
    constexpr std::pair<size_t, size_t> kFields[] = {{0, 4}, {4, 2}, {6, 2}};
    const auto [field, bytes] = kFields[below(std::size(kFields))];
    if (const auto at = find_node(layout::kLeafPage)) change(file_.data() + *at + field, bytes);
  }
  void change_child() {
    if (const auto at = find_node(layout::kBranchPage)) change(file_.data() + *at, below(2) == 0 ? 4 : 6);
  }
  void change_key() {
    const auto at = find_node(below(4) == 0 ? layout::kBranchPage : layout::kLeafPage);
    if (at) change(file_.data() + *at + layout::kNodeHeader + below(40), 1);
  }
  void change_long_data() {
    if (const auto found = find_page(layout::kOverflowPage))
      change(page(*found) + (below(2) == 0 ? 12 : layout::kPageHeader + below(200)), 1 + below(4));
  }
  void change_meta() {
    constexpr std::pair<size_t, size_t> kFields[] = {{0, 4},  {4, 4},   {16, 8},  {24, 4},  {28, 2}, {30, 2},
                                                     {40, 8}, {56, 8},  {64, 8},  {72, 4},  {76, 2}, {78, 2},
                                                     {88, 8}, {104, 8}, {112, 8}, {120, 8}, {128, 8}};
    const auto [at, bytes] = kFields[below(std::size(kFields))];
    const uint64_t both = below(2);
    const size_t which = below(2);
    change(page(which) + layout::kPageHeader + at, bytes);
    if (both == 0)
      std::memcpy(page(1 - which) + layout::kPageHeader + at, page(which) + layout::kPageHeader + at, bytes);
  }
  // Of a table: its flags, depth, counts or root.
  void change_tree() {
    for (int tries = 0; tries < 50; ++tries) {
      const auto at = find_node(layout::kLeafPage);
      if (!at) continue;
      const layout::Node node{file_.data() + *at};
      if (node.flags() != layout::kDataIsTree) continue;
      constexpr std::pair<size_t, size_t> kFields[] = {{4, 2},  {6, 2},  {8, 8}, {16, 8},
                                                       {24, 8}, {32, 8}, {40, 8}};
      const auto [field, bytes] = kFields[below(std::size(kFields))];
      const size_t place = *at + layout::kNodeHeader + node.key_bytes() + field;
      if (place + bytes <= file_.size()) change(file_.data() + place, bytes);
      return;
    }
  }
  // What Quire wrote: catalog, names, counters, entries, rows of the feed, records.
  void change_data() {
    const std::span<char> data = find_data();
    for (uint64_t count = 1 + below(4); !data.empty() && count > 0; --count) {
      const size_t bytes = std::min<size_t>(data.size(), size_t{1} << below(4));
      change(&data[below(data.size() - bytes + 1)], bytes);
    }
  }
  // A document, with the checksum that it should then have: a file that somebody made.
  void change_document() {
    for (int tries = 0; tries < 50; ++tries) {
      const std::span<char> data = find_data();
      if (!engine::has_right_checksum({data.data(), data.size()})) continue;
      for (uint64_t count = 1 + below(6); count > 0; --count) change(&data[8 + below(data.size() - 8)], 1);
      const std::string record(data.begin(), data.end());
      const engine::Bytes document = engine::document_of(record);
      engine::write_record(engine::read_header(record), document, engine::document_hash(document), data);
      return;
    }
  }
  // The record of the anchor (engine/file/anchor.h), where there is one: a file that somebody made.
  void change_anchor() {
    constexpr size_t kMeta = 40, kSum = kMeta + layout::kMetaBytes;
    constexpr std::pair<size_t, size_t> kFields[] = {{8, 8}, {16, 8}, {24, 8}};
    const bool is_of_meta = below(2) == 0;
    const auto [at, bytes] = kFields[below(std::size(kFields))];
    char* const record = page(below(layout::kMetaPages)) + kPage / 2;
    if (std::string_view(record, 8) != "QANCHOR1") return;
    if (is_of_meta)
      change(record + kMeta + 8 * below(layout::kMetaBytes / 8), 8);
    else
      change(record + at, bytes);
    put(record + kSum, 8, XXH3_64bits(record, kSum));
  }
  // A record of the log (engine/file/commit_log.h), with the checksum that it should then have.
  void change_log() {
    namespace log = engine::log_layout;
    for (size_t number = layout::kMetaPages; number < pages(); ++number) {
      char* const at = page(number) + layout::kPageHeader;
      const bool is_run = layout::page_flags(page(number)) == layout::kOverflowPage;
      constexpr size_t kRun = engine::CommitLog::kLeastBytes / kPage + 1;
      if (!is_run || layout::overflow_run(page(number)) < kRun) continue;
      if (pages() - number < kRun) return;  // the file was cut short
      for (const uint64_t half : {0u, 1u})
        change_record(at + log::half_at(half, engine::CommitLog::kLeastBytes));
      return;
    }
  }
  // Any of the first records of a half.
  void change_record(char* half) {
    namespace log = engine::log_layout;
    constexpr size_t kBytes = log::half_bytes(engine::CommitLog::kLeastBytes);
    auto seed = layout::load<log::Header>(half).random;
    size_t at = log::kRecordsAt;
    for (uint64_t skipped = below(20);; --skipped) {
      log::RecordHeader header;
      if (at + sizeof header > kBytes) return;
      std::memcpy(&header, half + at, sizeof header);
      const std::string_view rest(half + at, kBytes - at);
      if (!log::parse_record(rest, header.commit, seed)) return;
      if (skipped == 0) {
        char* const changes = half + at + log::kRecordHeader;
        for (uint64_t count = 1 + below(4); header.change_bytes > 8 && count > 0; --count)
          change(changes + below(header.change_bytes - 8), size_t{1} << below(4));
        header.sum = log::sum_of(header, {changes, header.change_bytes}, seed);
        std::memcpy(half + at, &header, sizeof header);
        return;
      }
      seed = header.sum;
      at += log::record_bytes(header.change_bytes);
    }
  }
  void fill_page() {
    constexpr char kBytes[] = {0, '\xFF', 'x'};
    std::memset(page(below(pages())), kBytes[below(std::size(kBytes))], kPage);
  }
  void copy_page() {
    const size_t from = below(pages()), to = below(pages());
    std::memmove(page(to), page(from), kPage);
    if (below(2) == 0) put(page(to), 8, to);
  }
  void truncate() {
    const size_t size = below(2) == 0 ? below(pages()) * kPage : below(file_.size());
    file_.resize(size);
  }

  std::string& file_;
  std::mt19937_64 random_;
};

const std::array<Mutator::Way, 16> Mutator::kWays = {{
    {"bits flipped", &Mutator::flip_bits},
    {"a page's header", &Mutator::change_header},
    {"a node's place", &Mutator::change_place},
    {"a node's header", &Mutator::change_node},
    {"a child's number", &Mutator::change_child},
    {"a key", &Mutator::change_key},
    {"long data", &Mutator::change_long_data},
    {"a meta page", &Mutator::change_meta},
    {"a table's tree", &Mutator::change_tree},
    {"data", &Mutator::change_data},
    {"a document with its checksum", &Mutator::change_document},
    {"the anchor with its checksum", &Mutator::change_anchor},
    {"the log with its checksum", &Mutator::change_log},
    {"a page overwritten", &Mutator::fill_page},
    {"a page copied", &Mutator::copy_page},
    {"the file cut off", &Mutator::truncate},
}};

}  // namespace

std::string mutate(std::string& file, uint64_t seed) {
  return Mutator(file, seed).run();
}

}  // namespace quire::tests
