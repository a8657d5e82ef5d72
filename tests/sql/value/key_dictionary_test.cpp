#include "sql/value/key_dictionary.h"

#include <gtest/gtest.h>

#include <thread>

namespace quire::sql {
namespace {

TEST(KeyDictionary, NumbersNamesInTheOrderOfTheirComing) {
  const auto dictionary = KeyDictionary::create();
  EXPECT_EQ(dictionary->add("b"), 0);
  EXPECT_EQ(dictionary->add("a"), 1);
  EXPECT_EQ(dictionary->add("b"), 0);
  EXPECT_EQ(dictionary->add(""), 2);
  EXPECT_EQ(dictionary->size(), 3U);
  EXPECT_EQ(dictionary->name(1), "a");
  EXPECT_NE(dictionary->name(2).data(), nullptr);
  EXPECT_EQ(dictionary->name(3).data(), nullptr);
  EXPECT_EQ(dictionary->name(KeyDictionary::kInline).data(), nullptr);
  EXPECT_EQ(dictionary->find("a"), 1);
  EXPECT_EQ(dictionary->find("c"), std::nullopt);
}

TEST(KeyDictionary, IsFoundByItsNumberWhileItLives) {
  auto dictionary = KeyDictionary::create();
  const DictionaryNumber number = dictionary->number();
  EXPECT_NE(number, 0);
  EXPECT_EQ(KeyDictionary::of(number), dictionary.get());
  EXPECT_EQ(KeyDictionary::of(0), nullptr);
  EXPECT_NE(KeyDictionary::create()->number(), number);
  dictionary.reset();
  EXPECT_EQ(KeyDictionary::of(number), nullptr);
  EXPECT_FALSE(resolve_key("a", number).is_known);
}

TEST(KeyDictionary, LongNamesAndTooManyAreNotTaken) {
  const auto dictionary = KeyDictionary::create();
  EXPECT_EQ(dictionary->add(std::string(65, 'x')), KeyDictionary::kInline);
  EXPECT_EQ(dictionary->add(std::string(64, 'x')), 0);
  for (size_t i = 1; i < KeyDictionary::kMostNames; ++i) EXPECT_EQ(dictionary->add(std::to_string(i)), i);
  EXPECT_EQ(dictionary->add("one more"), KeyDictionary::kInline);
  EXPECT_EQ(dictionary->add("77"), 77);
}

TEST(KeyDictionary, TruncationTakesNumbersBackForOtherNames) {
  const auto dictionary = KeyDictionary::create();
  dictionary->add("kept");
  dictionary->add("taken back");
  dictionary->truncate(1);
  EXPECT_EQ(dictionary->size(), 1U);
  EXPECT_EQ(dictionary->find("taken back"), std::nullopt);
  EXPECT_EQ(dictionary->name(1).data(), nullptr);
  EXPECT_EQ(dictionary->add("new"), 1);
  EXPECT_EQ(resolve_key("new", dictionary->number()).number, 1);
  dictionary->truncate(5);
  EXPECT_EQ(dictionary->size(), 2U);
}

// As full as it gets, so that the places of many names are taken by others, and half of it taken back for
// others still.
TEST(KeyDictionary, FindsEachOfAllNamesAndNoneThatWasTakenBack) {
  const auto dictionary = KeyDictionary::create();
  constexpr size_t kMost = KeyDictionary::kMostNames, kHalf = kMost / 2;
  const auto name = [](char kind, size_t number) { return kind + std::to_string(number); };
  for (size_t i = 0; i < kMost; ++i) EXPECT_EQ(dictionary->add(name('a', i)), i);
  for (size_t i = 0; i < kMost; ++i) EXPECT_EQ(dictionary->find(name('a', i)), i);
  dictionary->truncate(kHalf);
  for (size_t i = 0; i < kMost; ++i)
    EXPECT_EQ(dictionary->find(name('a', i)), i < kHalf ? std::optional<KeyNumber>(i) : std::nullopt);
  for (size_t i = kHalf; i < kMost; ++i) EXPECT_EQ(dictionary->add(name('b', i)), i);
  for (size_t i = 0; i < kMost; ++i) {
    EXPECT_EQ(dictionary->find(name('a', i)), i < kHalf ? std::optional<KeyNumber>(i) : std::nullopt);
    EXPECT_EQ(dictionary->find(name('b', i)), i < kHalf ? std::nullopt : std::optional<KeyNumber>(i));
  }
}

TEST(KeyDictionary, ThreadsReadWhileOneWrites) {
  const auto dictionary = KeyDictionary::create();
  std::atomic<bool> is_done = false;
  std::thread reader([&] {
    while (!is_done) {
      EXPECT_TRUE(dictionary->size() == 0 || dictionary->name(0) == "0");
      EXPECT_EQ(dictionary->find("3").value_or(3), 3);
      EXPECT_FALSE(resolve_key("absent", dictionary->number()).is_known);
    }
  });
  for (int i = 0; i < 2'000; ++i) {
    dictionary->add(std::to_string(i));
    if (i % 100 == 99) dictionary->truncate(static_cast<size_t>(i));
  }
  is_done = true;
  reader.join();
}

}  // namespace
}  // namespace quire::sql
