// quire-bench: the same work on Quire, on raw LMDB and on SQLite, in one run. README.md says what is
// measured.
#include <fmt/format.h>
#include <stdlib.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "tests/bench/child_process.h"
#include "tests/bench/must.h"
#include "tests/bench/report.h"
#include "tests/bench/sides.h"

namespace quire::bench {
namespace {

struct Options {
  uint64_t items = 500'000;
  size_t rounds = 3;
  std::string folder;
  std::string json;
  std::string shell;
  std::set<std::string> only;
  std::optional<SqliteLayout> sqlite_layout;
  std::string watched;  // a child whose memory is watched: "import" or "scan"
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

Options parse(int count, char** words) {
  Options options;
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

// Runs one side and keeps its figure; answers must be equal.
void measure(const Side& side, const Fixture& fixture, const Work& work, std::string& answer,
             std::vector<double>& figures) {
  if (!side) return;
  const Sample sample = side(fixture);
  figures.push_back(sample.figure);
  if (sample.answer.empty()) return;
  must(answer.empty() || answer == sample.answer,
       fmt::format("{}: the answers differ:\n{}\n{}", work.name, answer, sample.answer));
  answer = sample.answer;
}

// Each round begins with another side: whoever is first meets memory and a disk that are not warm yet.
void measure_in_turn(size_t round, const Fixture& fixture, Row& row) {
  struct Turn {
    const Side& side;
    std::vector<double>& figures;
  };
  const std::array turns = {Turn{row.work->quire, row.quire}, Turn{row.work->lmdb, row.lmdb},
                            Turn{row.work->sqlite, row.sqlite}};
  std::string answer;
  for (size_t i = 0; i < turns.size(); ++i) {
    const Turn& turn = turns[(round + i) % turns.size()];
    measure(turn.side, fixture, *row.work, answer, turn.figures);
  }
}

std::vector<Row> run_rounds(const Options& options, const Fixture& fixture) {
  std::vector<Row> rows;
  for (const Work& work : works())
    if (options.only.empty() || options.only.contains(std::string(work.name)))
      rows.push_back({&work, {}, {}, {}});
  // The other works read what the imports leave.
  if (rows.empty() || rows.front().work->name != "import") {
    quire_import(fixture);
    lmdb_import(fixture);
    sqlite_import(fixture);
  }
  for (size_t round = 0; round < options.rounds; ++round)
    for (Row& row : rows) measure_in_turn(round, fixture, row);
  return rows;
}

void print_memory(const Options& options, const Fixture& fixture) {
  const auto peak = [&](const std::string& watched) {
    return static_cast<double>(
               peak_anonymous_memory_of({"/proc/self/exe", "--dir", fixture.folder, "--items",
                                         std::to_string(options.items), "--watched", watched})) /
           1e6;
  };
  const double importing = peak("import");  // leaves the file that the scans read
  const double scanning = peak("scan");
  fmt::print(
      "\nmost memory held by Quire, mapped file pages aside: {:.0f} MB importing, {:.0f} MB scanning\n",
      importing, scanning);
}

int run(const Options& options) {
  const Folder folder(options.folder);
  if (options.watched == "import") {
    quire_import_file(folder.path() + "/readings.ndjson", folder.path() + "/watched.quire");
    return 0;
  }
  if (options.watched == "scan") {
    quire_run_scans(folder.path() + "/watched.quire");
    return 0;
  }
  const Readings readings(folder.path() + "/readings.ndjson", options.items);
  std::string shell = options.shell;
  const auto beside = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "quire";
  if (shell.empty() && std::filesystem::exists(beside)) shell = beside.string();
  constexpr size_t kProbes = 100'000;
  const Fixture fixture{folder.path(), shell, readings, readings.sample(kProbes), options.sqlite_layout, {}};
  fmt::print("{} readings, {:.1f} MB of NDJSON; medians of {} rounds; a ratio above 1: Quire is better\n\n",
             options.items, static_cast<double>(readings.bytes()) / 1e6, options.rounds);
  const std::vector<Row> rows = run_rounds(options, fixture);
  print_table(rows);
  if (!options.json.empty()) write_json(rows, options.json);
  if (options.only.empty()) print_memory(options, fixture);
  return 0;
}

}  // namespace
}  // namespace quire::bench

int main(int count, char** words) {
  try {
    return quire::bench::run(quire::bench::parse(count, words));
  } catch (const std::exception& error) {
    fmt::print(stderr, "quire-bench: {}\n", error.what());
    return 1;
  }
}
