// The data that the benchmark works on: readings of devices, as tools/gen_readings.py makes them, the same at
// every run. Written once as NDJSON; in memory there is only which device each reading belongs to.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace quire::bench {

// What an item is found by.
struct ReadingKey {
  std::string device_id;
  std::string id;
};

class Readings {
 public:
  // Writes `count` readings to a new file at `path`.
  Readings(std::string path, uint64_t count);

  const std::string& path() const noexcept { return path_; }
  uint64_t count() const noexcept { return device_of_.size(); }
  uint64_t bytes() const noexcept { return bytes_; }
  ReadingKey key(uint64_t reading) const;
  // Keys drawn at random, the same at every call.
  std::vector<ReadingKey> sample(size_t count) const;

 private:
  std::string path_;
  std::vector<uint32_t> device_of_;
  uint64_t bytes_ = 0;
};

// The (device, id) of a line that Readings wrote; views into the line.
struct ReadingKeyView {
  std::string_view device_id;
  std::string_view id;
};
ReadingKeyView key_of_line(std::string_view line);

}  // namespace quire::bench
