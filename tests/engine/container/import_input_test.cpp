// The input of an import cut into texts, however its bytes arrive.
#include "engine/container/import_input.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "tests/engine/file/temporary_folder.h"

namespace quire::engine {
namespace {

using testing::ElementsAre;

// Gives `bytes`, so many at a time.
InputReader reader_of(std::string bytes, size_t at_a_time = 1 << 20) {
  return [bytes = std::move(bytes), at_a_time, done = size_t{0}](char* buffer, size_t capacity) mutable {
    const size_t count = std::min({at_a_time, capacity, bytes.size() - done});
    std::memcpy(buffer, bytes.data() + done, count);
    done += count;
    return static_cast<int64_t>(count);
  };
}

struct Cut {
  std::vector<std::string> texts;
  Result<void> end{};
};

// Each text as line:column:json; * for one that is too long.
Cut cut(const std::string& input, size_t at_a_time, size_t longest = 1000) {
  const InputReader reader = reader_of(input, at_a_time);
  ImportInput texts(reader, longest);
  Cut cut;
  const auto keep = [&](const ImportText& text) {
    cut.texts.push_back(std::to_string(text.start.line) + ":" + std::to_string(text.start.column) + ":" +
                        (text.is_too_long ? "*" : std::string(text.json)));
  };
  const auto read = [&]() -> Result<void> {
    QUIRE_TRY(texts.start());
    ImportText text;
    while (texts.is_array()) {
      QUIRE_ASSIGN(const bool has_element, texts.next_element(text));
      if (!has_element) return {};
      keep(text);
    }
    for (ImportLines lines; !lines.is_last;) {
      QUIRE_TRY(texts.begin_lines(lines));
      for (bool is_whole = false; !is_whole;) {
        QUIRE_ASSIGN(is_whole, texts.read_lines(lines));
      }
      for (LineCutter cutter(lines, longest); cutter.next(text);) keep(text);
    }
    return {};
  };
  cut.end = read();
  return cut;
}

class ImportInputTest : public testing::TestWithParam<size_t> {};
INSTANTIATE_TEST_SUITE_P(BytesAtATime, ImportInputTest, testing::Values(1, 7, 1 << 20));

TEST_P(ImportInputTest, LinesWithoutBlankOnesAndLineEnds) {
  EXPECT_THAT(cut("{\"a\":1}\n\n  \r\n{\"b\":2}\r\n{\"c\":3}", GetParam()).texts,
              ElementsAre("1:1:{\"a\":1}", "4:1:{\"b\":2}", "5:1:{\"c\":3}"));
  EXPECT_THAT(cut("", GetParam()).texts, ElementsAre());
  EXPECT_THAT(cut("\n\n", GetParam()).texts, ElementsAre());
}

TEST_P(ImportInputTest, AByteOrderMarkIsNoPartOfTheFirstLine) {
  EXPECT_THAT(cut("\xEF\xBB\xBF{}\n{}", GetParam()).texts, ElementsAre("1:1:{}", "2:1:{}"));
  EXPECT_THAT(cut("\xEF\xBB\xBF[{}]", GetParam()).texts, ElementsAre("1:2:{}"));
}

TEST_P(ImportInputTest, ElementsOfAnArrayWithPlacesInCodePoints) {
  const Cut cuts = cut(" \n[ {\"a\":\"é]}\\\"\"} ,{\"b\":[{}, 2]},\n  7 , \"x,]\",true]\n", GetParam());
  EXPECT_TRUE(succeeds(cuts.end));
  EXPECT_THAT(cuts.texts, ElementsAre("2:3:{\"a\":\"é]}\\\"\"}", "2:18:{\"b\":[{}, 2]}", "3:3:7",
                                      "3:7:\"x,]\"", "3:13:true"));
  EXPECT_THAT(cut("[]", GetParam()).texts, ElementsAre());
}

TEST_P(ImportInputTest, WhatDoesNotBelongBetweenElementsEndsTheInput) {
  const auto end_of = [](const std::string& input) { return cut(input, GetParam()).end; };
  EXPECT_TRUE(fails_with(end_of("[{} {}]"), ErrorCode::invalid_json, "comma"));
  EXPECT_TRUE(fails_with(end_of("[{}"), ErrorCode::invalid_json, "not closed"));
  EXPECT_TRUE(fails_with(end_of("[{},"), ErrorCode::invalid_json, "not closed"));
  EXPECT_TRUE(fails_with(end_of("[{},]"), ErrorCode::invalid_json, "element"));
  EXPECT_TRUE(fails_with(end_of("[,{}]"), ErrorCode::invalid_json, "element"));
  EXPECT_TRUE(fails_with(end_of("[{\"a\":1"), ErrorCode::invalid_json, "within"));
  EXPECT_TRUE(fails_with(end_of("[{}] {}"), ErrorCode::invalid_json, "behind the end"));
  const auto late = end_of("[{},\n {} x]");
  ASSERT_TRUE(fails_with(late, ErrorCode::invalid_json));
  EXPECT_EQ(late.error().position.line, 2u);
  EXPECT_EQ(late.error().position.column, 5u);
  EXPECT_EQ(late.error().position.offset, 9u);
}

TEST_P(ImportInputTest, LongTextsArePassedOver) {
  const std::string long_text = "{\"a\":\"" + std::string(50, 'x') + "\"}";
  EXPECT_THAT(cut("{}\n" + long_text + "\n[]\n" + long_text, GetParam(), 20).texts,
              ElementsAre("1:1:{}", "2:1:*", "3:1:[]", "4:1:*"));
  EXPECT_THAT(cut("[{}," + long_text + ",{}]", GetParam(), 20).texts,
              ElementsAre("1:2:{}", "1:5:*", "1:64:{}"));
}

// Lines that span stretches, and one longer than a stretch.
TEST(ImportInput, LinesOfManyStretches) {
  std::string input;
  std::vector<std::string> expected;
  for (uint32_t line = 1; input.size() < 3 * ImportLines::kBytes; ++line) {
    const std::string text(line % 1000, 'x');
    if (!text.empty()) expected.push_back(std::to_string(line) + ":1:" + text);
    input += text + "\n";
  }
  const auto line = static_cast<uint32_t>(std::ranges::count(input, '\n')) + 1;
  const std::string longer(2 * ImportLines::kBytes + 3, 'y');
  input += longer + "\nz\n" + longer + "yyyy\nz";
  expected.push_back(std::to_string(line) + ":1:" + longer);
  expected.push_back(std::to_string(line + 1) + ":1:z");
  expected.push_back(std::to_string(line + 2) + ":1:*");
  expected.push_back(std::to_string(line + 3) + ":1:z");
  EXPECT_TRUE(cut(input, 300'007, longer.size()).texts == expected);
  EXPECT_TRUE(cut(input, 16 << 20, longer.size()).texts == expected);
}

// More of them in a row than a byte counts, at every distance from the end of a piece.
TEST(ImportInput, NewlinesAreCountedHoweverManyThereAre) {
  for (const size_t newlines : {1, 15, 63, 64, 65, 255, 256, 16'319, 16'320, 16'321, 16'384, 70'000}) {
    const std::string text = "\"" + std::string(newlines % 70, '\x0B') + "\"";
    const std::string input = text + std::string(newlines, '\n') + "z";
    const std::vector<std::string> expected{"1:1:" + text, std::to_string(newlines + 1) + ":1:z"};
    for (const size_t at_a_time : {size_t{63}, size_t{1} << 20})
      EXPECT_EQ(cut(input, at_a_time).texts, expected);
  }
}

TEST(ImportInput, AReaderThatFailsEndsTheInput) {
  const InputReader failing = [](char*, size_t) { return int64_t{-1}; };
  const InputReader lying = [](char*, size_t capacity) { return static_cast<int64_t>(capacity) + 1; };
  EXPECT_TRUE(fails_with(ImportInput(failing, 10).start(), ErrorCode::io));
  EXPECT_TRUE(fails_with(ImportInput(lying, 10).start(), ErrorCode::io));
}

}  // namespace
}  // namespace quire::engine
