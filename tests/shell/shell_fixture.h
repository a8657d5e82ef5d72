// Runs the program `quire` in a folder of its own, and keeps what it wrote and how it ended.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace quire::test {

struct ShellRun {
  int exit_code = -1;
  std::string output;
  std::string errors;
};

class ShellTest : public testing::Test {
 protected:
  ShellTest() {
    std::string name = (std::filesystem::temp_directory_path() / "quire-shell-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~ShellTest() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }

  std::string read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(path(name), std::ios::binary).rdbuf();
    return text.str();
  }

  // Runs the program with `input` on its standard input.
  ShellRun run(const std::vector<std::string>& arguments, const std::string& input = "") const {
    const std::string in = write("stdin", input);
    std::string command = std::string("'") + QUIRE_SHELL + "'";
    for (const std::string& argument : arguments) {
      command += " '";
      for (const char c : argument) command += c == '\'' ? std::string("'\\''") : std::string(1, c);
      command += "'";
    }
    command += " <'" + in + "' >'" + path("stdout") + "' 2>'" + path("stderr") + "'";
    ShellRun run;
    run.exit_code = WEXITSTATUS(std::system(command.c_str()));
    run.output = read("stdout");
    run.errors = read("stderr");
    return run;
  }

  std::filesystem::path folder_;
};

inline constexpr const char* kBooks =
    "{\"id\":\"1\",\"shelf\":\"a\",\"title\":\"Night Trains\",\"pages\":210}\n"
    "{\"id\":\"2\",\"shelf\":\"a\",\"title\":\"Вогонь і сад\",\"pages\":90}\n"
    "{\"id\":\"3\",\"shelf\":\"b\",\"title\":\"Tide Tables\"}\n";

}  // namespace quire::test
