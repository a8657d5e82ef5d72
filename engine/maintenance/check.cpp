#include "engine/maintenance/check.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "engine/catalog/catalog.h"
#include "engine/container/container.h"
#include "engine/maintenance/container_check.h"
#include "sql/value/json.h"

namespace quire::engine {
namespace {

// How often containers may be made by others while they are being opened.
constexpr int kMostTries = 16;

using Stores = std::vector<std::shared_ptr<ContainerStore>>;

class DatabaseCheck {
 public:
  DatabaseCheck(Environment& environment, std::string_view container, const WorkOptions& options)
      : environment_(environment),
        catalog_(environment),
        wanted_(container),
        work_(options, "the check was interrupted") {}

  Result<CheckReport> run() {
    for (int tries = 0; tries < kMostTries; ++tries) {
      QUIRE_ASSIGN(const Stores stores, open_all());
      QUIRE_ASSIGN(const ReadTransaction snapshot, environment_.begin_read());
      QUIRE_ASSIGN(const bool is_complete, sees_the_same(snapshot, stores));
      if (!is_complete) continue;
      for (const auto& store : stores) QUIRE_TRY(expect(snapshot, *store));
      for (const auto& store : stores) {
        QUIRE_TRY(ContainerCheck(snapshot, *store, work_, report_).run());
        ++report_.containers;
      }
      return std::move(report_);
    }
    return fail(ErrorCode::busy, "containers were made and dropped all the time; try again");
  }

 private:
  // Tables are visible to transactions that begin after they were opened. A store of its own for each: what
  // others have in memory is not what is checked.
  Result<Stores> open_all() {
    report_ = {};
    Stores stores;
    QUIRE_ASSIGN(const ReadTransaction snapshot, environment_.begin_read());
    QUIRE_ASSIGN(std::vector<std::string> names, catalog_.names(snapshot));
    if (!wanted_.empty()) {
      if (std::ranges::find(names, wanted_) == names.end())
        return std::unexpected(catalog_.not_found(snapshot, wanted_));
      names = {std::string(wanted_)};
    }
    for (const std::string& name : names) {
      auto entry = catalog_.find(snapshot, name);
      if (!entry && entry.error().code != ErrorCode::corrupt)
        return std::unexpected(std::move(entry.error()));
      if (!entry) {
        report_.add({name, "the catalog", entry.error().message, "restore the file from a backup"});
        continue;
      }
      if (!*entry) continue;
      auto store = ContainerStore::open(environment_, **entry);
      if (store)
        stores.push_back(std::move(*store));
      else if (store.error().code == ErrorCode::container_not_found)
        missing_.push_back(name);
      else
        return std::unexpected(std::move(store.error()));
    }
    return stores;
  }

  // Whether the snapshot's containers are those that were opened. One whose tables are not all there though
  // the catalog still has it is damaged.
  Result<bool> sees_the_same(const ReadTransaction& snapshot, const Stores& stores) {
    for (const std::string& name : std::exchange(missing_, {})) {
      QUIRE_ASSIGN(const auto number, catalog_.find_number(snapshot, name));
      if (number)
        report_.add({name, "its tables", "one of them is missing", "restore the file from a backup"});
    }
    for (const auto& store : stores) {
      QUIRE_ASSIGN(const auto number, catalog_.find_number(snapshot, store->definition().name));
      if (number != store->number()) return false;
    }
    return true;
  }

  Result<void> expect(const ReadTransaction& snapshot, ContainerStore& store) {
    QUIRE_ASSIGN(const uint64_t items, snapshot.count(store.items_table()));
    QUIRE_ASSIGN(const uint64_t entries, snapshot.count(store.indexes().table()));
    work_.expect(items + entries);
    return {};
  }

  Environment& environment_;
  Catalog catalog_;
  std::string_view wanted_;
  LongWork work_;
  CheckReport report_;
  std::vector<std::string> missing_;
};

void add_member(std::string& json, std::string_view name, std::string_view text) {
  json += json.empty() ? '{' : ',';
  sql::write_json_string(name, json);
  json += ':';
  sql::write_json_string(text, json);
}

}  // namespace

void CheckReport::add(Finding finding) {
  ++finding_count_;
  if (findings_.size() < kMostFindings) findings_.push_back(std::move(finding));
}

std::vector<std::string> CheckReport::rows() const {
  std::vector<std::string> rows;
  for (const Finding& finding : findings_) {
    std::string& json = rows.emplace_back();
    add_member(json, "container", finding.container);
    add_member(json, "where", finding.where);
    add_member(json, "what", finding.what);
    add_member(json, "repair", finding.repair);
    json += '}';
  }
  rows.push_back(fmt::format(R"({{"ok":{},"findings":{},"containers":{},"items":{},"entries":{}}})",
                             finding_count_ == 0, finding_count_, containers, items, entries));
  return rows;
}

Result<CheckReport> check_database(Environment& environment, std::string_view container,
                                   const WorkOptions& options) {
  return DatabaseCheck(environment, container, options).run();
}

std::string printable(std::string_view bytes) {
  if (simdjson::validate_utf8(bytes.data(), bytes.size())) return std::string(bytes);
  std::string text = "0x";
  for (const char byte : bytes) text += fmt::format("{:02X}", static_cast<uint8_t>(byte));
  return text;
}

}  // namespace quire::engine
