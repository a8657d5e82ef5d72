// A document that is changed in place becomes what the changed value is written as.
#include "sql/value/document_edit.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "sql/value/document.h"
#include "tests/sql/value/sample_documents.h"

namespace quire::sql {
namespace {

using Names = std::vector<std::string_view>;

class DocumentEditTest : public testing::Test {
 protected:
  // The document of what `before` says with `scalar` in place of its one %.
  std::string with(std::string_view before, std::string_view scalar) {
    std::string json(before);
    return documents_.bytes(json.replace(json.find('%'), 1, scalar));
  }

  // Whether the scalar was put in the place; checks what the document is then.
  bool edits(std::string_view form, const Names& path, std::string_view from, std::string_view to) {
    const std::string before = with(form, from);
    std::string document = before;
    DocumentEdit edit(document, documents_.dictionary());
    EXPECT_TRUE(edit.seek(path));
    EXPECT_EQ(json_of(edit.value()), from);
    const bool is_done = edit.overwrite(documents_.build(to));
    EXPECT_EQ(document, is_done ? with(form, to) : before) << form.substr(0, 100) << ' ' << to.substr(0, 100);
    if (is_done) {
      EXPECT_EQ(json_of(edit.value()), to);
    }
    return is_done;
  }

  SampleDocuments documents_;
};

TEST_F(DocumentEditTest, OfEveryWidthAndFormIsWhatTheWriterMakes) {
  std::vector<std::string> scalars = {"0",     "63",   "64",     "-1",     "32767",
                                      "40000", "1.5",  "-0.001", "1e+300", "9007199254740993",
                                      "null",  "true", R"("")",  R"("é")"};
  for (const size_t size : {40, 63, 64, 200, 255, 256, 65'000, 70'000})
    scalars.push_back('"' + std::string(size, 'x') + '"');
  std::string many = R"({"a":%)";
  for (int i = 0; i < 300; ++i) many += fmt::format(R"(,"k{}":{})", i, i);
  const std::vector<std::pair<std::string, Names>> forms = {
      {R"({"a":%})", {"a"}},
      {R"({"first":1,"a":%,"last":"z"})", {"a"}},
      {R"({"first":")" + std::string(150, 'f') + R"(","a":%,"last":[1,2]})", {"a"}},
      {R"({"first":")" + std::string(65'000, 'f') + R"(","a":%,"last":[1,2]})", {"a"}},
      {R"({"o":{"p":{"b":2,"a":%,"c":3},"q":4},"r":"s"})", {"o", "p", "a"}},
      {many + "}", {"a"}},
      {R"({"wide":)" + many + R"(},"z":1})", {"wide", "a"}},
  };
  size_t done = 0;
  for (const auto& [form, path] : forms)
    for (const std::string& from : scalars)
      for (const std::string& to : scalars) done += edits(form, path, from, to) ? 1 : 0;
  EXPECT_GT(done, forms.size() * scalars.size() * scalars.size() / 3);
}

TEST_F(DocumentEditTest, GoesOnWithWhatItHasMade) {
  std::string document = documents_.bytes(R"({"o":{"a":1,"b":2},"c":3})");
  DocumentEdit edit(document, documents_.dictionary());
  const auto set = [&](const Names& path, std::string_view value) {
    return edit.seek(path) && edit.overwrite(documents_.build(value));
  };
  EXPECT_TRUE(set({"o", "a"}, R"("longer than it was")"));
  EXPECT_TRUE(edit.overwrite(documents_.build(R"("longer still than it was")")));
  EXPECT_TRUE(set({"c"}, "true") && set({"o", "b"}, "-7.25") && set({"o", "a"}, "0"));
  EXPECT_EQ(document, documents_.bytes(R"({"o":{"a":0,"b":-7.25},"c":true})"));
}

TEST_F(DocumentEditTest, LeavesWhatItCannotDo) {
  const std::string before = documents_.bytes(R"({"o":{"a":1},"l":[{"a":1}],"s":"t"})");
  std::string document = before;
  DocumentEdit edit(document, documents_.dictionary());
  for (const Names& path :
       {Names{}, {"no"}, {"o", "b"}, {"l", "0"}, {"l", "0", "a"}, {"s", "a"}, Names(9, "o")})
    EXPECT_FALSE(edit.seek(path));
  ASSERT_TRUE(edit.seek(Names{"o", "a"}));
  for (const std::string_view value : {"[]", R"({"a":1})"})
    EXPECT_FALSE(edit.overwrite(documents_.build(value)));
  EXPECT_FALSE(edit.overwrite({}));
  EXPECT_EQ(document, before);
}

// Names beside values, as where the dictionary is full: who writes anew counts their bytes.
TEST_F(DocumentEditTest, LeavesObjectsWithNamesInThem) {
  for (size_t i = documents_.dictionary().size(); i < KeyDictionary::kMostNames; ++i)
    (void)documents_.dictionary().add(fmt::format("n{}", i));
  std::string document = documents_.bytes(R"({"n1":1,"a name that has no number":2})");
  DocumentEdit edit(document, documents_.dictionary());
  EXPECT_FALSE(edit.seek(Names{"n1"}));
}

TEST_F(DocumentEditTest, StaysWithinDamagedBytes) {
  std::mt19937 random(20261130);
  const std::string sound = documents_.bytes(R"({"o":{"a":1,"b":"text","c":[1,2]},"d":-1.5})");
  for (int round = 0; round < 20'000; ++round) {
    std::string document = sound;
    for (int i = 0; i < 3; ++i) document[random() % document.size()] = static_cast<char>(random());
    document.resize(random() % 8 == 0 ? random() % document.size() : document.size());
    document.shrink_to_fit();
    DocumentEdit edit(document, documents_.dictionary());
    for (const Names& path : {Names{"o", "a"}, {"o", "b"}, {"d"}, {"o"}})
      if (edit.seek(path)) (void)edit.overwrite(documents_.build(random() % 2 == 0 ? "70000" : R"("other")"));
  }
}

}  // namespace
}  // namespace quire::sql
