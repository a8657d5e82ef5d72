// The prompt, as somebody at a terminal meets it.
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>

#include <algorithm>
#include <chrono>
#include <string_view>

#include "tests/shell/shell_fixture.h"

namespace quire::test {
namespace {

class PromptTest : public ShellTest {
 protected:
  // The program on a terminal of its own, once its prompt has come.
  void start(const std::vector<std::string>& arguments) {
    // So wide that no line of a test wraps.
    winsize size{.ws_row = 50, .ws_col = 4000, .ws_xpixel = 0, .ws_ypixel = 0};
    process_ = forkpty(&terminal_, nullptr, nullptr, &size);
    ASSERT_GE(process_, 0);
    if (process_ == 0) {
      setenv("HOME", folder_.c_str(), 1);
      setenv("TERM", "dumb", 1);
      std::vector<char*> words = {const_cast<char*>("quire")};
      for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
      words.push_back(nullptr);
      execv(QUIRE_SHELL, words.data());
      _exit(127);
    }
    wait_for("quire> ");
  }
  ~PromptTest() override {
    if (process_ > 0) kill(process_, SIGKILL);
    if (terminal_ >= 0) close(terminal_);
  }

  // Everything up to and with `text`, which the terminal must show before long.
  std::string wait_for(std::string_view text) {
    constexpr int kPatience = 20'000;
    while (shown_.find(text) == std::string::npos) {
      pollfd wanted{.fd = terminal_, .events = POLLIN, .revents = 0};
      char buffer[4096];
      const ssize_t count = poll(&wanted, 1, kPatience) == 1 ? ::read(terminal_, buffer, sizeof buffer) : -1;
      if (count <= 0) {
        ADD_FAILURE() << "waited for '" << text << "', saw '" << shown_ << "'";
        return shown_;
      }
      shown_.append(buffer, static_cast<size_t>(count));
    }
    const size_t end = shown_.find(text) + text.size();
    const std::string before = shown_.substr(0, end);
    shown_.erase(0, end);
    if (text.ends_with("> ")) wait_for_editor();
    return before;
  }
  // The editor shows its prompt before it takes the terminal over; a Ctrl-D in between would be lost.
  void wait_for_editor() {
    termios settings{};
    for (int i = 0; i < 2000; ++i) {
      if (tcgetattr(terminal_, &settings) == 0 && (settings.c_lflag & ICANON) == 0) return;
      usleep(10'000);
    }
    ADD_FAILURE() << "the editor did not begin to read";
  }
  void type(std::string_view text) {
    ASSERT_EQ(::write(terminal_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  int exit_code() {
    int status = 0;
    while (true) {
      char buffer[4096];
      if (::read(terminal_, buffer, sizeof buffer) <= 0) break;
    }
    waitpid(std::exchange(process_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t process_ = -1;
  int terminal_ = -1;
  std::string shown_;
};

TEST_F(PromptTest, EnterEndsAStatementUnlessItPlainlyGoesOn) {
  start({});
  type("SELECT VALUE 40 + 2\n");
  wait_for("42\r\nquire> ");
  type("SELECT VALUE 40 +\n");
  wait_for("     > ");
  type("3\n");
  wait_for("43\r\nquire> ");
  type("SELECT VALUE (40 +\n");
  wait_for("     > ");
  type("4)\n");
  wait_for("44\r\nquire> ");
  type("SELECT VALUE\n");
  wait_for("     > ");
  type("\n");
  wait_for("error: line 1, column");
  wait_for("quire> ");
  type(".quit\n");
  EXPECT_EQ(exit_code(), 0);
}

TEST_F(PromptTest, PastedLinesBelongTogether) {
  start({});
  type("SELECT VALUE x\nFROM x IN (SELECT VALUE [51, 52])\nWHERE x = 52;\n");
  wait_for("52\r\nquire> ");
}

TEST_F(PromptTest, AnEmptyLineEndsAStatementUnlessItIsPastedWithin) {
  start({});
  type("SELECT VALUE x\n\nFROM x IN (SELECT VALUE [53, 54])\n\nWHERE x = 54\n\nSELECT VALUE 50 + 5\n");
  wait_for("54\r\n");
  wait_for("55\r\nquire> ");
  type("SELECT VALUE\n");
  wait_for("     > ");
  type("\n");
  wait_for("error");
}

// As in a script; what begins like a property stays one.
TEST_F(PromptTest, ACommandEndsTheStatementBeforeIt) {
  start({});
  type("SELECT VALUE x\nFROM x IN (SELECT VALUE [70 + 1])\n.help .quit\n");
  wait_for("71\r\n");
  wait_for("leave");
  wait_for("quire> ");
  type("SELECT VALUE x\n.a FROM x IN (SELECT VALUE [{a: 72}]);\n");
  wait_for("72\r\nquire> ");
}

// A name that is none in SQL would mean something else there, and may hold what a terminal takes for orders.
TEST_F(PromptTest, TabWritesNamesThatMeanTheirProperties) {
  start({path("t.quire")});
  type(
      "CREATE CONTAINER c; INSERT INTO c VALUES {id: '1', price: 81, 'price of it': 82, 'pri\\u001bx': 83, "
      "'pri\\u009bx': 83, "
      "'order': 84};\n");
  wait_for("quire> ");
  type(".use c\n");
  wait_for("c> ");
  type("SELECT VALUE c.pri\t FROM c\n");
  wait_for("81\r\nc> ");
  type("SELECT VALUE c.ord\t ?? 85 FROM c\n");
  wait_for("85\r\nc> ");
}

TEST_F(PromptTest, CtrlCLeavesTheLineAndKeepsTheSession) {
  start({});
  type("SELECT VALUE (1,");
  wait_for("(1,");
  type("\x03");
  wait_for("quire> ");
  type("SELECT VALUE 60 + 1\n");
  wait_for("61\r\nquire> ");
  type("\x04");
  EXPECT_EQ(exit_code(), 0);
}

TEST_F(PromptTest, CtrlCEndsARunningStatement) {
  start({});
  // 10 to the 12th rows to count.
  std::string statement = "SELECT VALUE COUNT(1) FROM x0 IN (SELECT VALUE [0,1,2,3,4,5,6,7,8,9])";
  for (int i = 1; i < 12; ++i)
    statement += " JOIN x" + std::to_string(i) + " IN (SELECT VALUE [0,1,2,3,4,5,6,7,8,9])";
  // Within 100 milliseconds; a machine that is busy gets several tries.
  auto soonest = std::chrono::steady_clock::duration::max();
  for (int tries = 0; tries < 5; ++tries) {
    type(statement + "\n");
    wait_for("9])\r\n");
    usleep(100'000);
    const auto pressed = std::chrono::steady_clock::now();
    type("\x03");
    wait_for("interrupted");
    soonest = std::min(soonest, std::chrono::steady_clock::now() - pressed);
    wait_for("quire> ");
  }
  EXPECT_LT(soonest, std::chrono::milliseconds(100));
  type("SELECT VALUE 70 + 1\n");
  wait_for("71\r\nquire> ");
}

TEST_F(PromptTest, ImportsWhatIsTyped) {
  start({});
  type(".import - c\n");
  // Said once the terminal is out of the editor's hands, where Ctrl-D would be a key like any other.
  wait_for("then Ctrl-D on a line of its own\r\n");
  type("{\"id\":\"typed\"}\n\x04");
  wait_for("1 items imported");
  wait_for("quire> ");
  type("SELECT c.id FROM c\n");
  wait_for("typed\r\n");
}

}  // namespace
}  // namespace quire::test
