// The queries that scripts run, prepared once for their text: a procedure asks the same from call to call,
// with other parameters, and to prepare a short query takes longer than to run it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/query/snapshot_source.h"
#include "sql/error.h"
#include "sql/run/execution.h"

namespace quire::engine {

// Of one database; for the holder of the write lock, in whose transaction scripts run.
class QueryCache {
 public:
  // Longer texts are prepared each time: what is kept is bounded by this and by how many there are.
  static constexpr size_t kMost = 32, kMostBytes = 4096;

  struct Request {
    std::string_view sql;
    const ContainerStore& container;
    bool is_positioned;                  // the source shows items in the order of their ids, and no indexes
    sql::MemberNames member_names = {};  // what has parameters in brackets is not kept
  };

  // The query over what `source` shows of `base`: the kept one, while the containers are what its plan rests
  // on. What prepare_query() fails with, and failures of storage.
  Result<std::shared_ptr<const sql::PreparedQuery>> prepare(const Request& request, SnapshotSource& base,
                                                            sql::Source& source);

 private:
  struct Entry {
    uint64_t hash;
    std::string sql;
    ContainerNumber container;
    bool is_positioned;
    SnapshotSource::Lookups basis;  // what the plan rests on
    std::shared_ptr<const sql::PreparedQuery> query;
  };

  // The entry of the request, as the first; null if there is none.
  const Entry* find(const Request& request, uint64_t hash);

  std::vector<std::unique_ptr<Entry>> entries_;  // the last used first
  // By hash: what was asked and is not kept. A text has to come twice, so that those with other values in
  // them each time take no room from others.
  std::array<uint64_t, 256> asked_{};
};

}  // namespace quire::engine
