// The containers that a Database has open: each is opened once, when first asked for, and shared, so that
// threads and statements share its key dictionary. A name is looked up in the catalog each time, as the
// transaction at hand sees it, since another thread or process may have dropped the container and made
// another under its name.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/catalog/catalog.h"
#include "engine/container/container.h"
#include "engine/container/index_build.h"
#include "engine/file/environment.h"
#include "engine/query/key_list.h"
#include "sql/error.h"

namespace quire::engine {

class QueryCache;

// Thread-safe. Must not outlive the Environment.
class OpenContainers {
 public:
  explicit OpenContainers(Environment& environment, const ContainerOptions& options = {});
  ~OpenContainers();

  // A transaction knows the tables of only those containers that were opened before it began: take openings()
  // first, then begin, and a container whose `opening` is higher needs a newer transaction.
  struct Opened {
    std::shared_ptr<ContainerStore> store;
    uint64_t opening = 0;  // the how-manieth it was
  };
  // The `opening` of one that a commit group has made or cannot open, for the transactions in it: it has no
  // store before the group has ended.
  static constexpr uint64_t kAfterTheGroup = UINT64_MAX;
  uint64_t openings() const noexcept { return openings_.load(std::memory_order_acquire); }

  // The container that `transaction` sees under a name; a null store if there is none, or none yet.
  Result<Opened> find(const Transaction& transaction, std::string_view name);
  // A null store if it is not open.
  Opened known(ContainerNumber number) const;
  // The container of that name in a snapshot of now; container_not_found, with the nearest name.
  Result<std::shared_ptr<ContainerStore>> open(std::string_view name);

  // A crash or an interrupt may have left indexes of containers that find() has opened unfinished: goes on
  // with those that no process is at. That is many commits, so who calls this before it begins a snapshot
  // must hold none: the file could not use the room again that they free, and the map not grow. Nobody here
  // has asked for the indexes: a failure, for want of room say, or an interrupt keeps nobody from the items,
  // and leaves them to a later open.
  void go_on_building();
  // Whom go_on_building() tells of its progress, and who may end it. Before the first container is opened.
  void use_building_options(std::function<WorkOptions()> options) { building_options_ = std::move(options); }

  // Makes a container and opens it; errors of Catalog::create.
  Result<std::shared_ptr<ContainerStore>> create(const ContainerDefinition& definition);
  // A change whose indexes are not all built: it stays, and the build goes on when the container is opened
  // next, or the definition is as it was.
  enum class Unfinished : uint8_t { stays, is_undone };
  // Changes a container's definition, except its name and partition key; container_not_found, and what `edit`
  // fails with. Who has the container keeps it as it was; statements prepared from here on see the change.
  // Indexes that it gets are built before this returns; conflict, and nothing changed, if items have the same
  // values of a new unique one. interrupted, timeout: as `unfinished` says.
  Result<void> alter(std::string_view name, const std::function<Result<void>(ContainerDefinition&)>& edit,
                     const WorkOptions& building = {}, Unfinished unfinished = Unfinished::stays);
  // Who has the container keeps it, and gets container_not_found from it; errors of Catalog::drop.
  Result<void> drop(std::string_view name);
  // Erases items of all containers that have expired, in short transactions, at most so many; how many.
  Result<uint64_t> erase_expired(uint64_t most);

  // What runs around writes to all containers that are opened from here on.
  void use_triggers(WriteTriggers* triggers) noexcept { triggers_ = triggers; }

  Environment& environment() const noexcept { return environment_; }
  const Catalog& catalog() const noexcept { return catalog_; }
  // What queries gather keys in.
  KeyRooms& key_rooms() noexcept { return key_rooms_; }
  // What was prepared and may be asked for again.
  QueryCache& queries() noexcept { return *queries_; }

 private:
  static constexpr size_t kFewOpen = 32;

  struct Redefinition {
    ContainerDefinition before, after;
  };
  // The part of alter() that is one transaction; whether indexes have to be built.
  Result<bool> redefine(std::string_view name, const std::function<Result<void>(ContainerDefinition&)>& edit,
                        Redefinition& definition, std::shared_ptr<ContainerStore>& store);
  // Whether one of the indexes that the change asked for is not in the definition any more: those who build
  // it have found that it cannot be, or somebody has dropped it meanwhile, which then counts as done before.
  // `after` stays the definition, where it is that.
  Result<bool> lacks_one(Redefinition& change, const std::vector<std::string>& asked, ContainerNumber number);
  Result<void> undo(std::string_view name, const Redefinition& change, const WorkOptions& building);
  Result<uint64_t> erase_expired(ContainerStore& store, uint64_t most);
  Result<void> set_throughput(ContainerStore& store);
  // build_indexes(). `asked`, which may be null, stays the definition where it is that, and loses what cannot
  // be built.
  Result<void> build(ContainerStore& store, const WorkOptions& options, ContainerDefinition* asked);
  // Lets go of containers that another database of this process, or another process, has dropped. Looks for
  // them once `kFewOpen` more are open than it left when it last did: a process has room for the tables of
  // some thousand (kMostTables), those that were dropped among them.
  Result<void> forget_dropped();
  // Keeps `store`, unless another thread was faster with one as new; what is kept.
  Opened keep(std::shared_ptr<ContainerStore> store);

  Environment& environment_;
  ContainerOptions options_;
  WriteTriggers* triggers_ = nullptr;
  std::function<WorkOptions()> building_options_;
  Catalog catalog_;
  KeyRooms key_rooms_;
  std::unique_ptr<QueryCache> queries_;
  mutable std::mutex mutex_;  // guards the three below
  // Shared, since statements and container handles outlive a drop.
  std::map<ContainerNumber, Opened> stores_;
  size_t most_open_ = kFewOpen;                               // with more, some may have been dropped
  std::vector<std::shared_ptr<ContainerStore>> just_opened_;  // for go_on_building()
  std::atomic<bool> has_just_opened_ = false;
  std::atomic<uint64_t> openings_ = 0;
};

}  // namespace quire::engine
