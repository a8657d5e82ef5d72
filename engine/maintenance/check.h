// CHECK: whether a file holds what it should. Everything is read in one snapshot, in bounded memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/container/long_work.h"
#include "engine/file/environment.h"
#include "sql/error.h"

namespace quire::engine {

// Something that is not as it should be.
struct CheckFinding {
  std::string container;
  std::string where;   // "item '7'"
  std::string what;    // "its bytes do not have the checksum that was stored with them"
  std::string repair;  // what the user can do
};

class CheckReport {
 public:
  // More than this many are counted, not kept.
  static constexpr size_t kMostFindings = 1000;

  void add(CheckFinding finding);

  const std::vector<CheckFinding>& findings() const noexcept { return findings_; }
  uint64_t finding_count() const noexcept { return finding_count_; }
  // Each as a JSON object, then one that says how it went:
  //   {"container": "c", "where": "item '7'", "what": "...", "repair": "..."}
  //   {"ok": false, "findings": 1, "containers": 3, "items": 500, "entries": 1500}
  std::vector<std::string> rows() const;

  uint64_t containers = 0;
  uint64_t items = 0;
  uint64_t entries = 0;  // of indexes

 private:
  std::vector<CheckFinding> findings_;
  uint64_t finding_count_ = 0;
};

// Of one container, or of all where the name is empty. container_not_found; interrupted; busy; errors of the
// file that are none of its contents. What is wrong with the contents is a finding.
Result<CheckReport> check_database(Environment& environment, std::string_view container = {},
                                   const WorkOptions& options = {});

// Bytes as a message may show them: text, or hexadecimal.
std::string printable(std::string_view bytes);

}  // namespace quire::engine
