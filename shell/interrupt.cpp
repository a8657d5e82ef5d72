#include "shell/interrupt.h"

#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>

namespace quire::shell {
namespace {

// All that the signal handler touches; each is lock-free.
std::atomic<quire_database*> g_running = nullptr;
std::atomic<bool> g_is_interrupted = false;
std::atomic<bool> g_has_prompt = false;
std::atomic<bool> g_is_heeded = false;
static_assert(std::atomic<quire_database*>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

void on_interrupt(int signal_number) {
  g_is_interrupted = true;
  if (quire_database* database = g_running.load(); database != nullptr) {
    quire_interrupt(database);
  } else if (!g_has_prompt && !g_is_heeded) {
    std::signal(signal_number, SIG_DFL);
    std::raise(signal_number);
  }
}

}  // namespace

void catch_interrupts(bool has_prompt) {
  g_has_prompt = has_prompt;
  struct sigaction action{};
  action.sa_handler = on_interrupt;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
}

bool is_interrupted() {
  return g_is_interrupted;
}

void forget_interrupt() {
  g_is_interrupted = false;
}

int64_t read_until_interrupted(int descriptor, char* buffer, size_t capacity) {
  while (!is_interrupted()) {
    // Unlike read(), poll() is never started again by itself after a signal.
    pollfd wanted{.fd = descriptor, .events = POLLIN, .revents = 0};
    if (poll(&wanted, 1, -1) < 0) {
      if (errno != EINTR) return -1;
      continue;
    }
    const ssize_t count = ::read(descriptor, buffer, capacity);
    if (count >= 0 || errno != EINTR) return count;
  }
  errno = EINTR;
  return -1;
}

Interruptible::Interruptible(const Database& database) {
  g_running = database.c_handle();
}

Interruptible::Interruptible() {
  g_is_heeded = true;
}

Interruptible::~Interruptible() {
  g_running = nullptr;
  g_is_heeded = false;
}

}  // namespace quire::shell
