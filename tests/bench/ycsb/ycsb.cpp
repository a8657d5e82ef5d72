#include "tests/bench/ycsb/ycsb.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <iterator>

#include "tests/bench/must.h"
#include "tests/bench/random.h"
#include "tests/bench/threads.h"

namespace quire::bench {
namespace {

constexpr int kFields = 10;
constexpr size_t kFieldBytes = 100;
constexpr uint64_t kLongestScan = 100;
constexpr uint64_t kLookAtClock = 16;  // operations between two looks
constexpr uint64_t kMostThreads = 64;

// Parts of a hundred; the rest are inserts. As in YCSB's own workload files.
struct Mix {
  char workload;
  uint64_t reads, updates, scans, reads_with_update;
  bool reads_latest;
};
constexpr Mix kMixes[] = {
    {'a', 50, 50, 0, 0, false}, {'b', 95, 5, 0, 0, false}, {'c', 100, 0, 0, 0, false},
    {'d', 95, 0, 0, 0, true},   {'e', 0, 0, 95, 0, false}, {'f', 50, 0, 0, 50, false},
};

const Mix& mix_of(char workload) {
  for (const Mix& mix : kMixes)
    if (mix.workload == workload) return mix;
  throw std::runtime_error("there is no such workload of YCSB");
}

// Spread over the keys, so that those often asked for do not lie side by side.
std::string id_of(uint64_t number) {
  return fmt::format("user{:016x}", Random::mixed(number + 1));
}

std::string field_text(Random& random) {
  std::string text(kFieldBytes, ' ');
  for (char& byte : text) byte = static_cast<char>('a' + random.below(26));
  return text;
}

void append_item(Random& random, uint64_t number, std::string& out) {
  fmt::format_to(std::back_inserter(out), R"({{"id":"{}")", id_of(number));
  for (int field = 0; field < kFields; ++field)
    fmt::format_to(std::back_inserter(out), R"(,"field{}":"{}")", field, field_text(random));
  out += '}';
}

// Numbers below `count`, small ones often: the k-th as often as 1 / k^0.99 (Gray et al., "Quickly generating
// billion-record synthetic databases", 1994, which YCSB follows).
class Zipfian {
 public:
  explicit Zipfian(uint64_t count) : count_(static_cast<double>(count)) {
    for (uint64_t i = 1; i <= count; ++i) zeta_ += 1 / std::pow(static_cast<double>(i), kTheta);
    const double zeta_of_two = 1 + std::pow(0.5, kTheta);
    eta_ = (1 - std::pow(2 / count_, 1 - kTheta)) / (1 - zeta_of_two / zeta_);
  }
  uint64_t draw(Random& random) const {
    const double share = random.fraction();
    if (share * zeta_ < 1) return 0;
    if (share * zeta_ < 1 + std::pow(0.5, kTheta)) return count_ > 1 ? 1 : 0;
    const double drawn = count_ * std::pow(eta_ * share - eta_ + 1, 1 / (1 - kTheta));
    return static_cast<uint64_t>(std::min(drawn, count_ - 1));
  }

 private:
  static constexpr double kTheta = 0.99;
  double count_;
  double zeta_ = 0;
  double eta_ = 0;
};

// What the threads share.
struct Shared {
  const Mix& mix;
  const uint64_t first_items;  // there from the start
  const Zipfian zipfian;
  std::atomic<uint64_t> next_insert;
  std::atomic<uint64_t> done = 0;
};

class Worker {
 public:
  Worker(Shared& shared, std::unique_ptr<YcsbClient> client, uint64_t seed)
      : shared_(&shared), client_(std::move(client)), random_(seed), value_(field_text(random_)) {}

  void operator()() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds_of_a_rate);
    uint64_t done = 0;
    while (done % kLookAtClock != 0 || std::chrono::steady_clock::now() < end) {
      operate();
      ++done;
    }
    shared_->done += done;
  }

 private:
  void operate() {
    uint64_t drawn = random_.below(100);
    const auto is = [&drawn](uint64_t share) {
      if (drawn < share) return true;
      drawn -= share;
      return false;
    };
    const Mix& mix = shared_->mix;
    if (is(mix.reads)) return read(number());
    if (is(mix.updates)) return update(number());
    if (is(mix.scans)) return scan();
    if (is(mix.reads_with_update)) {
      const uint64_t item = number();
      read(item);
      return update(item);
    }
    insert();
  }

  // Of an item that is often asked for: the latest, or any.
  uint64_t number() {
    const uint64_t drawn = shared_->zipfian.draw(random_);
    return shared_->mix.reads_latest ? shared_->next_insert - 1 - drawn
                                     : Random::mixed(drawn) % shared_->first_items;
  }
  void read(uint64_t number) {
    // One that another thread is just inserting may not be there yet.
    must(client_->read(id_of(number)) || number >= shared_->first_items, "ycsb: an item is missing");
  }
  void update(uint64_t number) {
    value_[random_.below(value_.size())] = static_cast<char>('a' + random_.below(26));
    client_->update(id_of(number), static_cast<int>(random_.below(kFields)), value_);
  }
  void scan() { must(client_->scan(id_of(number()), 1 + random_.below(kLongestScan)) > 0, "ycsb: no items"); }
  void insert() {
    const uint64_t number = shared_->next_insert++;
    item_.clear();
    append_item(random_, number, item_);
    client_->insert(id_of(number), item_);
  }

  Shared* shared_;
  std::unique_ptr<YcsbClient> client_;
  Random random_;
  std::string value_;
  std::string item_;
};

}  // namespace

uint64_t ycsb_items(const Fixture& fixture) {
  constexpr uint64_t kShare = 5;  // of the readings: 100,000 of 500,000
  return std::max<uint64_t>(1, fixture.readings.count() / kShare);
}

std::string ycsb_items_file(const Fixture& fixture) {
  std::string path = fixture.new_file_once("ycsb.ndjson");
  if (std::filesystem::exists(path)) return path;
  const File file = open_file(path, "wb");
  Random random(3);
  std::string line;
  for (uint64_t i = 0; i < ycsb_items(fixture); ++i) {
    line.clear();
    append_item(random, i, line);
    line += '\n';
    must(std::fwrite(line.data(), 1, line.size(), file.get()) == line.size(), "cannot write " + path);
  }
  return path;
}

Sample measure_ycsb(const YcsbRun& run, YcsbStore& store, uint64_t use) {
  const uint64_t items = store.count();
  Shared shared{mix_of(run.workload), items, Zipfian(items), items};
  const double seconds = seconds_of_threads(run.threads, [&](size_t number) {
    return Worker(shared, store.connect(), Random::mixed(use * kMostThreads + number));
  });
  must(store.count() == shared.next_insert, "ycsb: inserted items are missing");
  return {static_cast<double>(shared.done) / seconds, {}};
}

}  // namespace quire::bench
