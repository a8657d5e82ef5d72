// Processes in which a database is opened: a fork must not inherit an open one, and what they do may end
// them.
#pragma once

#include <functional>
#include <string>

namespace quire::tests {

// A folder for the test's files, in memory where there is such a thing; removed at the end.
class TestFolder {
 public:
  TestFolder();
  ~TestFolder();
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  void keep() const { is_kept_ = true; }

 private:
  std::string folder_;
  mutable bool is_kept_ = false;
};

// Whether all of so many processes, at a time, gave true. One that is killed by a signal is told of.
bool succeed_in_children(int children, const std::function<bool(int number)>& work);
// Of one that ends itself.
bool succeeds_in_child(const std::function<void()>& work);

}  // namespace quire::tests
