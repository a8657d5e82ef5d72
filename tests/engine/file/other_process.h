#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace quire::engine {

// A process that was forked before this one opened the file, and goes a step when it is told to.
class OtherProcess {
 public:
  // What `act` opens lasts until the last step; it says whether the step succeeded.
  explicit OtherProcess(const std::function<bool(int step)>& act) {
    if (pipe(orders_) != 0 || pipe(answers_) != 0) return;
    process_ = fork();
    if (process_ != 0) return;
    char byte = 0;
    close(orders_[1]);
    for (int step = 0; ::read(orders_[0], &byte, 1) == 1; ++step) {
      byte = act(step) ? 'y' : 'n';
      if (::write(answers_[1], &byte, 1) != 1) _exit(1);
    }
    _exit(0);
  }
  ~OtherProcess() {
    for (const int end : {orders_[0], orders_[1], answers_[0], answers_[1]}) close(end);
    waitpid(process_, nullptr, 0);
  }
  OtherProcess(const OtherProcess&) = delete;
  OtherProcess& operator=(const OtherProcess&) = delete;

  bool step() {
    char byte = 0;
    return process_ > 0 && ::write(orders_[1], "x", 1) == 1 && ::read(answers_[0], &byte, 1) == 1 &&
           byte == 'y';
  }

 private:
  int orders_[2] = {-1, -1}, answers_[2] = {-1, -1};
  pid_t process_ = -1;
};

}  // namespace quire::engine
