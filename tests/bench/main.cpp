// quire-bench: the same work on Quire, on raw LMDB and on SQLite, in one run. README.md says what is
// measured.
#include <dlfcn.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>

#include "tests/bench/duckdb_library.h"
#include "tests/bench/machine.h"
#include "tests/bench/must.h"
#include "tests/bench/picture.h"
#include "tests/bench/report.h"
#include "tests/bench/rounds.h"
#include "tests/bench/sides.h"

namespace quire::bench {
namespace {

struct Arguments {
  uint64_t items = 500'000;
  size_t rounds = 3;
  std::string folder;
  std::string json;
  std::string shell;
  std::set<std::string> only;
  std::optional<SqliteLayout> sqlite_layout;
  std::string sqlite_library;
  std::string duckdb_library;
  std::string svg;
  std::vector<std::string> drawn;  // JSON of earlier runs, to be drawn instead of a run
  std::vector<uint64_t> growth;    // sizes; none: one run of `items`
  std::string watched;             // a child whose memory is watched: "import" or "scan"
};

// The folder that is asked for, or a new one that ends with the run.
class Folder {
 public:
  explicit Folder(const std::string& wanted) : path_(wanted), is_temporary_(wanted.empty()) {
    if (!is_temporary_) {
      std::filesystem::create_directories(path_);
      return;
    }
    path_ = std::filesystem::temp_directory_path() / "quire-bench-XXXXXX";
    must(mkdtemp(path_.data()) != nullptr, "cannot make a folder for the benchmark");
  }
  ~Folder() {
    std::error_code ignored;
    if (is_temporary_) std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
  bool is_temporary_;
};

// SQLite is called by its symbols: another library takes their place where it is loaded first, so the program
// begins anew with it.
void use_sqlite_library(const std::string& given, char** words) {
  constexpr const char* kVariable = "LD_PRELOAD";
  const char* const loaded = std::getenv(kVariable);
  if (given.empty()) return;
  // A bare name would be looked for where the system has its libraries.
  const std::string path = std::filesystem::absolute(given).string();
  if (loaded != nullptr && path == loaded) {
    unsetenv(kVariable);  // not for the programs that are run
    return;
  }
  // One that cannot be loaded would be passed over, and the system's be measured in its place.
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  must(library != nullptr && dlsym(library, "sqlite3_libversion") != nullptr,
       path + " is no libsqlite3.so that can be loaded");
  setenv(kVariable, path.c_str(), 1);
  execv("/proc/self/exe", words);
  must(false, "cannot begin anew with " + path);
}

Arguments parse(int count, char** words) {
  Arguments options;
  CLI::App app("Quire beside raw LMDB and SQLite on the same readings, in the same run");
  std::vector<std::string> names;
  for (const Work& work : works()) names.emplace_back(work.name);
  const std::map<std::string, SqliteLayout> layouts = {{"rowid", SqliteLayout::rowid},
                                                       {"without-rowid", SqliteLayout::without_rowid}};
  app.add_option("--items", options.items, "how many readings (500,000)")
      ->check(CLI::Range(1, 1'000'000'000));
  app.add_option("--rounds", options.rounds, "how many rounds (3)")->check(CLI::Range(1, 1000));
  app.add_option("--seconds", seconds_of_a_rate, "how long a rate is measured at least (0.4)")
      ->check(CLI::Range(0.0, 3600.0));
  app.add_option("--only", options.only, "this work alone; may be repeated")->check(CLI::IsMember(names));
  app.add_option("--json", options.json, "write the medians and ratios to this file");
  app.add_option("--svg", options.svg, "draw the results to this file");
  app.add_option("--draw", options.drawn, "draw what --json has written, rather than run; may be repeated")
      ->check(CLI::ExistingFile);
  app.add_flag_callback(
      "--growth", [&] { options.growth = {10'000, 100'000, 1'000'000, 5'000'000}; },
      "the main figures at 10,000, 100,000, 1,000,000 and 5,000,000 readings");
  app.add_option("--sizes", options.growth, "the same at these sizes")->check(CLI::Range(1, 1'000'000'000));
  app.add_option("--sqlite-library", options.sqlite_library, "this libsqlite3.so rather than the system's")
      ->check(CLI::ExistingFile);
  app.add_option("--duckdb-library", options.duckdb_library, "beside DuckDB too, by this libduckdb.so")
      ->check(CLI::ExistingFile);
  app.add_option("--dir", options.folder, "work in this folder and leave the files there");
  app.add_option("--shell", options.shell, "the quire program (the one beside this program)");
  app.add_option("--sqlite-layout", options.sqlite_layout, "rather than the faster one for each work")
      ->transform(CLI::CheckedTransformer(layouts));
  app.add_option("--watched", options.watched)->group("");
  try {
    app.parse(count, words);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  return options;
}

// The child whose memory is watched.
void run_watched(const Arguments& options, const std::string& folder) {
  const std::string path = folder + "/watched.quire";
  if (options.watched == "import") {
    for (const char* suffix : {"", "-lock"}) std::filesystem::remove(path + suffix);
    quire_import_file(folder + "/readings.ndjson", path);
  }
  if (options.watched == "scan") quire_run_scans(path);
}

std::string program_beside() {
  const auto beside = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "quire";
  return std::filesystem::exists(beside) ? beside.string() : "";
}

std::vector<Comparison> run_size(const Arguments& options, const std::string& folder, uint64_t items) {
  constexpr size_t kProbes = 100'000;
  constexpr int kFirstWithJsonb = 3'045'000;
  const Readings readings(folder + "/readings.ndjson", items);
  const Fixture fixture{folder,
                        options.shell.empty() ? program_beside() : options.shell,
                        readings,
                        readings.sample(kProbes),
                        options.sqlite_layout,
                        SqliteJson::text,
                        {}};
  const Wanted wanted{options.only, !options.growth.empty(), sqlite3_libversion_number() >= kFirstWithJsonb,
                      !options.duckdb_library.empty()};
  fmt::print("{} readings, {:.1f} MB of NDJSON; medians of {} rounds; a ratio above 1: Quire is better\n\n",
             items, static_cast<double>(readings.bytes()) / 1e6, options.rounds);
  std::vector<Comparison> results = run_rounds(fixture, wanted, options.rounds);
  print_table(results);
  fmt::print("\n");
  return results;
}

Report measured(const Arguments& options) {
  const Folder folder(options.folder);
  Report report{machine_line(), {}};
  fmt::print("{}\n", report.machine);
  for (const uint64_t items : options.growth.empty() ? std::vector{options.items} : options.growth)
    std::ranges::copy(run_size(options, folder.path(), items), std::back_inserter(report.results));
  return report;
}

void run(const Arguments& options) {
  if (!options.watched.empty()) return run_watched(options, options.folder);
  if (!options.duckdb_library.empty()) load_duckdb(options.duckdb_library);
  Report report;
  if (options.drawn.empty()) report = measured(options);
  for (const std::string& path : options.drawn) {
    Report more = read_json(path);
    if (report.machine.empty()) report.machine = more.machine;
    std::ranges::move(more.results, std::back_inserter(report.results));
  }
  if (!options.json.empty()) write_json(report, options.json);
  if (!options.svg.empty()) write_picture(report, options.svg);
}

}  // namespace
}  // namespace quire::bench

int main(int count, char** words) {
  try {
    const quire::bench::Arguments options = quire::bench::parse(count, words);
    quire::bench::use_sqlite_library(options.sqlite_library, words);
    quire::bench::run(options);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "quire-bench: {}\n", error.what());
    return 1;
  }
}
