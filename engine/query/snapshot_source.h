// What a query sees of storage: the containers of one snapshot, or of a write transaction, as sql/source.h
// wants them. Collections and
// cursors are thin: a scan goes straight to ItemCursor, whose values point into the file's map.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/container/container.h"
#include "engine/file/transaction.h"
#include "engine/query/open_containers.h"
#include "engine/query/scripts.h"
#include "sql/error.h"
#include "sql/source.h"

namespace quire::engine {

class SnapshotCollection;

// Where user-defined functions come from.
struct FunctionSource {
  Scripts* scripts = nullptr;  // null: there are none
  ScriptLimits limits;
  const std::atomic<uint64_t>* interrupts = nullptr;
};

// Belongs to one thread at a time. Cursors and items end with it. Containers are opened when first asked for,
// and each question is remembered: the answers are what a plan rests on.
class SnapshotSource final : public sql::Source {
 public:
  // How often who starts may find that a container was opened, dropped or made by others meanwhile.
  static constexpr int kMostStarts = 16;

  // `scope`, if any, answers to its own name whatever the catalog says: a statement prepared on a container
  // stays with that container, not with its name.
  static Result<std::unique_ptr<SnapshotSource>> begin(OpenContainers& containers,
                                                       std::shared_ptr<ContainerStore> scope);
  // Ends the snapshot, and keeps what is known of the containers for resume(), which begins another: false if
  // there has been a commit between, so that the source is of no use any more. For a source of begin() alone.
  void rest() noexcept;
  Result<bool> resume();
  // Over a transaction that began after `openings` was taken and that outlives the source.
  SnapshotSource(OpenContainers& containers, std::shared_ptr<ContainerStore> scope, uint64_t openings,
                 const Transaction& transaction);
  ~SnapshotSource() override;

  sql::Collection* collection(std::string_view name) override;
  std::vector<std::string> collection_names() const override;
  // Those of the containers that the statement names; semantic where several have one of that name.
  Result<std::unique_ptr<sql::UserFunction>> user_function(std::string_view name) override;
  void use_functions(const FunctionSource& functions) { functions_ = functions; }

  // The names that were asked for, and the container that each stood for, if any, with the versions of its
  // definition and its indexes.
  struct Lookup {
    ContainerNumber container;
    uint64_t opening;
    uint32_t revision;
    uint64_t indexes;
    friend bool operator==(const Lookup&, const Lookup&) = default;
  };
  using Lookups = std::map<std::string, std::optional<Lookup>, std::less<>>;
  Lookups lookups() const;
  // Whether each name still stands for the same container with the same definition and indexes; asks for all
  // of them.
  bool agrees_with(const Lookups& lookups);

  // Some container was opened after the snapshot began: start again with a new source.
  bool is_outdated() const noexcept { return is_outdated_; }
  // The first failure of storage, which the interface above cannot tell.
  const std::optional<Error>& error() const noexcept { return error_; }

  // The container of a collection that collection() gave.
  const std::shared_ptr<ContainerStore>& store(std::string_view collection);

 private:
  SnapshotSource(OpenContainers& containers, std::shared_ptr<ContainerStore> scope, uint64_t openings,
                 ReadTransaction snapshot);
  Result<OpenContainers::Opened> find(std::string_view name);

  OpenContainers& containers_;
  std::shared_ptr<ContainerStore> scope_;
  uint64_t openings_;  // before the snapshot began
  std::optional<ReadTransaction> snapshot_;
  uint64_t commit_ = 0;             // the last that a snapshot has seen
  const Transaction& transaction_;  // the snapshot, or the caller's
  // By name; null where there is none.
  std::map<std::string, std::unique_ptr<SnapshotCollection>, std::less<>> collections_;
  FunctionSource functions_;
  bool is_outdated_ = false;
  std::optional<Error> error_;
};

}  // namespace quire::engine
