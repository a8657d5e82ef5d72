// What goes from one thread to another, and the memory that comes back.
#include "engine/container/handover.h"

#include <gtest/gtest.h>

#include <future>
#include <string>

namespace quire::engine {
namespace {

using namespace std::chrono_literals;

TEST(HandoverTest, WhatIsPutIsTakenInOrderUntilItIsClosed) {
  Handover<int> numbers;
  auto putting = std::async(std::launch::async, [&] {
    const CloseAtEnd close{numbers};
    for (int i = 0; i < 100; ++i)
      if (!numbers.put(i)) return false;
    return true;
  });
  int expected = 0;
  while (!numbers.is_over())
    if (const auto number = numbers.take(50ms)) {
      EXPECT_EQ(*number, expected++);
    }
  EXPECT_EQ(expected, 100);
  EXPECT_TRUE(putting.get());
}

TEST(HandoverTest, WhoPutsLearnsThatNobodyWantsIt) {
  Handover<int> numbers;
  EXPECT_TRUE(numbers.put(1));
  numbers.close();
  EXPECT_FALSE(numbers.put(2));
  EXPECT_EQ(numbers.take(0ms), 1);
  EXPECT_TRUE(numbers.is_over());
}

TEST(HandoverTest, AllThatIsGivenBackIsUsedAgain) {
  Handover<std::string> texts;
  EXPECT_EQ(texts.spare(), "");
  for (const char* text : {"a", "b", "c"}) texts.give_back(text);
  for (const char* text : {"c", "b", "a", ""}) EXPECT_EQ(texts.spare(), text);
}

}  // namespace
}  // namespace quire::engine
