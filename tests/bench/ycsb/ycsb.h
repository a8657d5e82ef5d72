// YCSB: the Yahoo! Cloud Serving Benchmark's workloads A to F over items of 1 KB, ten fields of 100 bytes,
// with a few items asked for much more often than others (zipfian).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "tests/bench/work.h"

namespace quire::bench {

struct YcsbRun {
  char workload;  // 'a' to 'f'
  size_t threads;
  bool is_durable;  // each write on the disk before it is acknowledged; otherwise a power cut may undo some
};

// What one thread does with a side's file.
class YcsbClient {
 public:
  virtual ~YcsbClient() = default;
  // All fields of an item; whether there is one.
  virtual bool read(const std::string& id) = 0;
  virtual void update(const std::string& id, int field, const std::string& value) = 0;
  virtual void insert(const std::string& id, const std::string& json) = 0;
  // All fields of the items from that id on, in its order; how many there were.
  virtual uint64_t scan(const std::string& from, uint64_t most) = 0;
};

// A side's file, open.
class YcsbStore {
 public:
  virtual ~YcsbStore() = default;
  virtual uint64_t count() = 0;
  virtual std::unique_ptr<YcsbClient> connect() = 0;
};

// Operations a second. `use`: how often the file has been used, this time counted, which is the same on each
// side; no two uses of a file write the same, which SQLite would find and not write.
Sample measure_ycsb(const YcsbRun& run, YcsbStore& store, uint64_t use);

// The path of NDJSON with the first items, written at the first call; and how many these are.
std::string ycsb_items_file(const Fixture& fixture);
uint64_t ycsb_items(const Fixture& fixture);

Side quire_ycsb(YcsbRun run);
Side lmdb_ycsb(YcsbRun run);
Side sqlite_ycsb(YcsbRun run);

}  // namespace quire::bench
