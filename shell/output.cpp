#include "shell/output.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "shell/display_width.h"

namespace quire::shell {
namespace {

// Rows that come so slowly are shown as they come, without a pager.
constexpr std::chrono::milliseconds kLongestHold{200};

bool is_program(const char* name) {
  const char* folders = std::getenv("PATH");
  std::string_view rest = folders == nullptr ? "" : folders;
  while (!rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    if (access((std::string(folder) + "/" + name).c_str(), X_OK) == 0) return true;
    rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
  }
  return false;
}

// Empty where there is no pager.
std::string pager_command() {
  if (const char* pager = std::getenv("PAGER"); pager != nullptr) return pager;
  return is_program("less") ? "less -FRX" : "";
}

}  // namespace

bool takes_colour(std::FILE* file) {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return isatty(fileno(file)) == 1 && (no_colour == nullptr || *no_colour == '\0') && terminal != nullptr &&
         std::strcmp(terminal, "dumb") != 0;
}

Output::~Output() {
  if (pager_ != nullptr) pclose(pager_);
  if (file_ != stdout) std::fclose(file_);
}

bool Output::redirect(const std::string& path, bool only_once) {
  std::FILE* file = path.empty() ? stdout : std::fopen(path.c_str(), "wb");
  if (file == nullptr) return false;
  if (file_ != stdout) std::fclose(file_);
  file_ = file;
  path_ = path;
  only_once_ = only_once;
  return true;
}

bool Output::is_terminal() const {
  return file_ == stdout && isatty(STDOUT_FILENO) == 1;
}

bool Output::has_colour() const {
  return file_ == stdout && takes_colour(stdout);
}

std::string Output::name() const {
  return path_.empty() ? "the output" : "'" + path_ + "'";
}

bool Output::was_left() const {
  return failure_ == EPIPE;
}

void Output::begin() {
  failure_ = 0;
  held_.clear();
  held_lines_ = 0;
  held_since_ = std::chrono::steady_clock::now();
  is_holding_ = uses_pager && is_terminal();
}

void Output::write(std::string_view text) {
  if (has_failed()) return;
  if (is_holding_)
    hold(text);
  else
    write_through(text);
}

void Output::write_through(std::string_view text) {
  std::FILE* file = pager_ != nullptr ? pager_ : file_;
  if (std::fwrite(text.data(), 1, text.size(), file) != text.size()) failure_ = errno;
}

void Output::hold(std::string_view text) {
  held_ += text;
  held_lines_ += static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  const bool is_long =
      held_lines_ >= terminal_height() || held_.size() > terminal_height() * terminal_width();
  const bool is_slow = std::chrono::steady_clock::now() - held_since_ > kLongestHold;
  if (!is_long && !is_slow) return;
  is_holding_ = false;
  // Without a pager that starts the rows go to the terminal as they are.
  if (is_long) static_cast<void>(start_pager());
  write_through(held_);
  held_.clear();
}

bool Output::start_pager() {
  const std::string command = pager_command();
  if (command.empty()) return false;
  std::fflush(stdout);
  pager_ = popen(command.c_str(), "w");
  return pager_ != nullptr;
}

bool Output::finish() {
  if (is_holding_) write_through(held_);
  is_holding_ = false;
  held_.clear();
  if (pager_ != nullptr) {
    // A person who leaves the pager early has seen enough: no failure of the statement.
    pclose(pager_);
    pager_ = nullptr;
    if (failure_ == EPIPE) failure_ = 0;
  }
  if (!has_failed() && std::fflush(file_) != 0) failure_ = errno;
  if (only_once_) redirect("", false);
  errno = failure_;
  return !has_failed();
}

}  // namespace quire::shell
