// Writes of a process that gets no threads, as one at its limit of them or of memory.
#include <fmt/format.h>
#include <pthread.h>

#include "tests/engine/file/small_commits_fixture.h"

namespace quire::engine {
namespace {

// While it lives no thread can begin: there is no room for a stack as large as it asks for.
class NoThreads {
 public:
  NoThreads() {
    pthread_attr_init(&attributes_);
    EXPECT_EQ(pthread_getattr_default_np(&attributes_), 0);
    EXPECT_EQ(set_stack_size(size_t{1} << 50), 0);
    pthread_t thread;
    EXPECT_EQ(pthread_create(&thread, nullptr, [](void*) -> void* { return nullptr; }, nullptr), EAGAIN);
  }
  ~NoThreads() {
    EXPECT_EQ(pthread_setattr_default_np(&attributes_), 0);
    pthread_attr_destroy(&attributes_);
  }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;

 private:
  static int set_stack_size(size_t size) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, size);
    const int code = pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
    return code;
  }
  pthread_attr_t attributes_;
};

class NoThreadTest : public SmallCommitsTest {};

TEST_P(NoThreadTest, CommitsAreSmallOnceThereCanBeThreadsAgain) {
  const auto environment = open();
  {
    const NoThreads none;
    for (int i = 0; i < 100; ++i) put(*environment, fmt::format("k{:02}", i));
  }
  until_small(*environment);
  EXPECT_EQ(contents(*environment).size(), 101);
}

INSTANTIATE_TEST_SUITE_P(Durabilities, NoThreadTest, testing::Values(Durability::full, Durability::relaxed),
                         [](const auto& test) {
                           return std::string(test.param == Durability::full ? "full" : "relaxed");
                         });

}  // namespace
}  // namespace quire::engine
