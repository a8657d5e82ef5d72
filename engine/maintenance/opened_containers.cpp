#include "engine/maintenance/opened_containers.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "engine/catalog/catalog.h"

namespace quire::engine {
namespace {

// How often containers may be made by others while they are being opened.
constexpr int kMostTries = 16;

class ContainerOpener {
 public:
  ContainerOpener(Environment& environment, std::string_view wanted, CheckReport* report)
      : environment_(environment), catalog_(environment), wanted_(wanted), report_(report) {}

  Result<OpenedContainers> run() {
    for (int tries = 0; tries < kMostTries; ++tries) {
      QUIRE_TRY(open_all());
      QUIRE_ASSIGN(ReadTransaction snapshot, environment_.begin_read());
      QUIRE_ASSIGN(const bool is_complete, sees_the_same(snapshot));
      if (!is_complete) continue;
      for (CheckFinding& finding : findings_) {
        if (report_ == nullptr) return fail(ErrorCode::corrupt, std::move(finding.what));
        report_->add(std::move(finding));
      }
      return OpenedContainers{std::move(stores_), std::move(snapshot)};
    }
    return fail(ErrorCode::busy, "containers were made and dropped all the time; try again");
  }

 private:
  Result<void> open_all() {
    stores_.clear();
    findings_.clear();
    missing_.clear();
    QUIRE_ASSIGN(const ReadTransaction snapshot, environment_.begin_read());
    QUIRE_ASSIGN(std::vector<std::string> names, catalog_.names(snapshot));
    if (!wanted_.empty()) {
      if (std::ranges::find(names, wanted_) == names.end())
        return std::unexpected(catalog_.not_found(snapshot, wanted_));
      names = {std::string(wanted_)};
    }
    for (const std::string& name : names) QUIRE_TRY(open(snapshot, name));
    return {};
  }

  Result<void> open(const ReadTransaction& snapshot, const std::string& name) {
    auto entry = catalog_.find(snapshot, name);
    if (!entry && entry.error().code != ErrorCode::corrupt) return std::unexpected(std::move(entry.error()));
    if (!entry) {
      findings_.push_back(
          {name, "the catalog", std::move(entry.error().message), "restore the file from a backup"});
      return {};
    }
    if (!*entry) return {};
    auto store = ContainerStore::open(environment_, **entry);
    if (store)
      stores_.push_back(std::move(*store));
    else if (store.error().code == ErrorCode::container_not_found)
      missing_.push_back(name);
    else
      return std::unexpected(std::move(store.error()));
    return {};
  }

  // Whether the snapshot's containers are those that were opened, as they were defined then. One whose tables
  // are not all there though the catalog still has it is damaged.
  Result<bool> sees_the_same(const ReadTransaction& snapshot) {
    for (const std::string& name : missing_) {
      QUIRE_ASSIGN(const auto found, catalog_.find_reference(snapshot, name));
      if (found)
        findings_.push_back({name, "its tables", "one of them is missing", "restore the file from a backup"});
    }
    for (const auto& store : stores_) {
      QUIRE_ASSIGN(const auto found, catalog_.find_reference(snapshot, store->definition().name));
      if (!found || found->number != store->number() || found->revision != store->revision()) return false;
    }
    return true;
  }

  Environment& environment_;
  Catalog catalog_;
  std::string_view wanted_;
  CheckReport* report_;
  std::vector<std::shared_ptr<ContainerStore>> stores_;
  std::vector<CheckFinding> findings_;
  std::vector<std::string> missing_;
};

}  // namespace

Result<OpenedContainers> open_containers(Environment& environment, std::string_view container,
                                         CheckReport* report) {
  return ContainerOpener(environment, container, report).run();
}

}  // namespace quire::engine
