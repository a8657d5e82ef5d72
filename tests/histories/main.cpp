// quire-histories: transactions of many threads, and of processes that are killed, and whether what they saw
// could have happened one after the other.
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <chrono>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "quire/quire.hpp"
#include "tests/crash/children.h"
#include "tests/histories/history.h"
#include "tests/histories/judge.h"
#include "tests/histories/player.h"

namespace {

using namespace quire::tests;

struct Arguments {
  int64_t seconds = 3;
  int processes = 1;
  int threads = 3;
  uint64_t seed = 1;
  bool kills = false;        // one process, too
  bool undisturbed = false;  // commits are small then, most of them (engine/file/small_commits.h)
};

constexpr std::array kDurabilities = {quire::Durability::relaxed, quire::Durability::full,
                                      quire::Durability::none};

// All versions of the lists, in the order of their LSNs.
std::string read_versions(quire::Database& database, std::vector<ListVersion>& versions) {
  auto lists = database.container("lists");
  if (!lists) return lists.error().message;
  auto feed = lists->feed({.mode = quire::FeedMode::all_versions, .start = quire::FeedStart::beginning()});
  if (!feed) return feed.error().message;
  for (;;) {
    const auto change = feed->next();
    if (!change) return change.error().message;
    if (!*change) return "";
    const quire::Value item = (*change)->current();
    const auto id = item["id"].as_string();
    const auto json = item["list"].to_json();
    if (!json) return json.error().message;
    const int partition = static_cast<int>(item["p"].as_integer());
    versions.push_back(
        {(*change)->lsn(), list_number(partition, std::stoi(std::string(id.substr(1)))), parse_list(*json)});
  }
}

std::string judge(const std::string& path, const std::string& history_folder) {
  const std::vector<TransactionRecord> records = read_histories(history_folder);
  auto database = quire::Database::open(path);
  if (!database) return database.error().message;
  const auto found = database->check();
  if (!found || *found != "[]") return "CHECK finds " + found.value_or("an error");
  std::vector<ListVersion> versions;
  std::string fault = read_versions(*database, versions);
  if (fault.empty()) fault = fault_of_history(records, versions);
  fmt::print("{} transactions, {} versions\n", records.size(), versions.size());
  return fault;
}

// Processes play; where there are several, each is killed after a while and another takes its place.
class Game {
 public:
  explicit Game(const Arguments& arguments) : arguments_(arguments), random_(arguments.seed) {
    std::filesystem::create_directory(histories());
  }

  bool run() {
    bool is_right = succeed_in_children(1, [&](int) { return lay_out_lists(path()); });
    is_right = is_right && (arguments_.processes > 1 || arguments_.kills
                                ? play_and_kill()
                                : succeed_in_children(1, [&](int) { return play_one(0); }));
    is_right = is_right && succeed_in_children(1, [&](int) {
                 const std::string fault = judge(path(), histories());
                 if (!fault.empty()) fmt::print("{}\n", fault);
                 return fault.empty();
               });
    if (!is_right) folder_.keep();
    return is_right;
  }

 private:
  std::string path() const { return folder_.path("lists.quire"); }
  std::string histories() const { return folder_.path("histories"); }
  // Each process with the next durability.
  bool play_one(int process) const {
    const uint64_t turn = arguments_.seed + static_cast<uint64_t>(process);
    return play({.path = path(),
                 .history_folder = histories(),
                 .process = process,
                 .threads = arguments_.threads,
                 .seed = arguments_.seed,
                 .has_disturbers = !arguments_.undisturbed,
                 .durability = kDurabilities[turn % kDurabilities.size()]},
                arguments_.seconds * 1000);
  }

  pid_t start(int process) {
    fflush(stdout);
    const pid_t child = fork();
    if (child != 0) return child;
    const bool is_right = play_one(process);
    fflush(stdout);
    _exit(is_right ? 0 : 1);
  }

  bool play_and_kill() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(arguments_.seconds);
    std::vector<pid_t> playing;
    int started = 0, kills = 0;
    while (started < arguments_.processes) playing.push_back(start(started++));
    bool is_right = true;
    while (is_right && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20 + random_() % 200));
      pid_t& one = playing[random_() % playing.size()];
      is_right = end_one(one, SIGKILL);
      one = start(started++);
      ++kills;
    }
    for (const pid_t process : playing) is_right = end_one(process, SIGKILL) && is_right;
    fmt::print("{} kills\n", kills + arguments_.processes);
    return is_right;
  }

  // False if it ended by itself, badly.
  static bool end_one(pid_t process, int signal) {
    int status = 0;
    kill(process, signal);
    waitpid(process, &status, 0);
    return !WIFEXITED(status) || WEXITSTATUS(status) == 0;
  }

  const Arguments& arguments_;
  TestFolder folder_;
  std::mt19937_64 random_;
};

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app(
      "Transactions of threads and of processes that are killed: is there an order in which they happened?");
  app.add_option("--seconds", arguments.seconds, "how long (3)");
  app.add_option("--processes", arguments.processes,
                 "how many at a time; more than one are killed now and then (1)");
  app.add_flag("--kills", arguments.kills, "one is killed now and then, too");
  app.add_flag("--undisturbed", arguments.undisturbed, "nobody makes containers and indexes meanwhile");
  app.add_option("--threads", arguments.threads, "of each (3)");
  app.add_option("--seed", arguments.seed, "of the random choices, and of the first durability");
  CLI11_PARSE(app, argc, argv);
  return Game(arguments).run() ? 0 : 1;
}
