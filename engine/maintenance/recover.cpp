#include "engine/maintenance/recover.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "engine/file/disk_order.h"
#include "engine/file/format_upgrades.h"
#include "engine/file/page_salvage.h"
#include "engine/file/standard_descriptors.h"
#include "engine/maintenance/lost_container.h"
#include "engine/maintenance/salvage_writer.h"
#include "sql/value/json.h"

namespace quire::engine {
namespace {

class RecoveryRun {
 public:
  RecoveryRun(PageSalvage& salvage, Environment& fresh) : salvage_(salvage), fresh_(fresh) {}

  Result<Recovery> run() {
    QUIRE_TRY(choose_view());
    QUIRE_ASSIGN(LostCatalog catalog, read_lost_catalog(salvage_));
    for (CatalogEntry& entry : catalog.containers) QUIRE_TRY(begin(std::move(entry), catalog.scripts));
    for (Part& part : parts_) QUIRE_TRY(read_items(part));
    QUIRE_TRY(read_strays());
    for (Part& part : parts_) {
      QUIRE_TRY(give_limit(part));
      finish(part);
    }
    for (const ContainerNumber number : catalog.nameless) QUIRE_TRY(count_nameless(number));
    for (const RecoveredContainer& container : recovery_.containers) {
      recovery_.salvaged += container.salvaged;
      recovery_.lost += container.lost;
    }
    return std::move(recovery_);
  }

 private:
  struct Part {
    RecoveredContainer report;
    std::unique_ptr<LostContainer> lost;
    SalvageWriter writer;
    uint64_t lost_pages = 0;
    uint64_t damaged = 0;  // records seen that are not whole
    // Of items found beside the trees: the newest version of each.
    std::unordered_map<std::string, Lsn> strays{};
    uint64_t from_strays = 0;
  };

  // What a view is worth: how many of the tables without which items cannot be read it leads to, and then how
  // late it is. The pages of an old view may have come to be something else.
  struct Worth {
    uint64_t tables = 0;
    uint64_t writes = 0;
    auto operator<=>(const Worth&) const = default;
  };

  Result<void> choose_view() {
    if (salvage_.is_newest_known()) {
      QUIRE_ASSIGN(const bool is_whole, is_view_whole());
      if (is_whole) return {};
    }
    size_t best = 0;
    Worth most;
    for (size_t view = 0; salvage_.views() > 1 && view < salvage_.views(); ++view) {
      salvage_.choose(view);
      QUIRE_ASSIGN(const Worth worth, worth_of_view());
      if (worth > most) {
        most = worth;
        best = view;
      }
    }
    salvage_.choose(best);
    return {};
  }

  // Whether all containers that it knows can be read. Those that an older one knows were dropped.
  Result<bool> is_view_whole() {
    QUIRE_ASSIGN(const LostCatalog catalog, read_lost_catalog(salvage_));
    bool is_whole = catalog.is_whole;
    for (const CatalogEntry& entry : catalog.containers)
      for (const std::string_view table : {kStatisticsTable, kKeysTable}) {
        if (!is_whole) break;
        QUIRE_ASSIGN(const auto writes, writes_in(table_name(entry.number, table)));
        is_whole = writes.has_value();
      }
    salvage_.choose(0);  // what was read counts as not read
    return is_whole;
  }

  // Items themselves may be found without a tree that leads to them.
  Result<Worth> worth_of_view() {
    Worth worth;
    for (const std::string& table : salvage_.tables()) {
      if (!table.ends_with(kStatisticsTable) && !table.ends_with(kKeysTable) && table != kCatalogTable)
        continue;
      QUIRE_ASSIGN(const auto writes, writes_in(table));
      worth.tables += writes.has_value();
      worth.writes += writes.value_or(0);
    }
    return worth;
  }

  // What the counters of a table say, 0 where it has none. Nothing if it is damaged.
  Result<std::optional<uint64_t>> writes_in(const std::string& table) {
    const bool has_counters = table.ends_with(kStatisticsTable), has_names = table.ends_with(kKeysTable);
    bool is_right = !has_counters;
    uint64_t writes = 0;
    QUIRE_ASSIGN(const uint64_t lost,
                 salvage_.read_table(table, [&](const PageSalvage::Entry& entry) -> Result<void> {
                   if (has_names) is_right = is_right && entry.key.size() == sizeof(sql::KeyNumber);
                   if (!has_counters || !entry.is_sound || entry.key != kCountersRow) return {};
                   const auto counters = parse_statistics(entry.record);
                   is_right = counters.has_value();
                   if (counters) writes = static_cast<uint64_t>(counters->last_lsn);
                   return {};
                 }));
    return lost == 0 && is_right ? std::optional(writes) : std::nullopt;
  }

  Result<void> begin(CatalogEntry entry, const std::vector<ScriptCatalog::Row>& scripts) {
    RecoveredContainer report;
    report.name = entry.definition.name;
    QUIRE_ASSIGN(std::unique_ptr<LostContainer> lost, LostContainer::read(salvage_, std::move(entry)));
    auto store = make_store(*lost, scripts);
    if (!store && !is_of_salvage(store.error())) return std::unexpected(std::move(store.error()));
    if (!store) {
      report.notes.push_back("it could not be made: " + store.error().message);
      report.lost = lost->counters() ? lost->counters()->items : 0;
      recovery_.containers.push_back(std::move(report));
      return {};
    }
    QUIRE_ASSIGN(SalvageWriter writer, SalvageWriter::create(fresh_, std::move(*store)));
    parts_.push_back({.report = std::move(report), .lost = std::move(lost), .writer = std::move(writer)});
    return {};
  }

  // Items may be larger than the limit that their container has now: it gets it when they are in.
  Result<std::shared_ptr<ContainerStore>> make_store(const LostContainer& lost,
                                                     const std::vector<ScriptCatalog::Row>& scripts) {
    std::shared_ptr<ContainerStore> store;
    ContainerDefinition definition = lost.definition();
    definition.item_limit_bytes = kHighestItemLimit;
    QUIRE_TRY(fresh_.write([&](WriteTransaction& transaction) -> Result<void> {
      QUIRE_ASSIGN(store, ContainerStore::create(fresh_, transaction, definition));
      for (const ScriptCatalog::Row& row : scripts)
        if (row.container == lost.number())
          QUIRE_TRY(ScriptCatalog(fresh_).put(transaction, store->number(), row.script, false));
      return {};
    }));
    return store;
  }

  Result<void> give_limit(const Part& part) {
    return fresh_.write([&](WriteTransaction& transaction) -> Result<void> {
      const Catalog catalog(fresh_);
      const ContainerDefinition& definition = part.lost->definition();
      QUIRE_ASSIGN(std::optional<CatalogEntry> entry, catalog.find(transaction, definition.name));
      if (!entry) return std::unexpected(catalog.not_found(transaction, definition.name));
      entry->definition.item_limit_bytes = definition.item_limit_bytes;
      return catalog.replace(transaction, *entry);
    });
  }

  Result<void> read_items(Part& part) {
    QUIRE_ASSIGN(part.lost_pages,
                 salvage_.read_table(part.lost->table(kItemsTable), [&](const PageSalvage::Entry& entry) {
                   const auto item = part.lost->item_of(entry);
                   // Where a page is damaged most places that could be a node are none.
                   if (!item) part.damaged += entry.is_sound;
                   return item ? part.writer.add(*item) : Result<void>();
                 }));
    return part.writer.flush();
  }

  // Twice: first to learn which version of an item is its newest.
  Result<void> read_strays() {
    std::vector<Part*> incomplete;
    for (Part& part : parts_)
      if (part.lost_pages > 0) incomplete.push_back(&part);
    if (incomplete.empty()) return {};
    QUIRE_TRY(salvage_.read_strays([&](const PageSalvage::Entry& entry) -> Result<void> {
      visit_stray(incomplete, entry, [](Part& part, const SalvagedItem& item) {
        Lsn& newest = part.strays[std::string(item.key.bytes())];
        newest = std::max(newest, item.header.lsn);
      });
      return {};
    }));
    for (Part* part : incomplete) part->from_strays = part->writer.written();
    QUIRE_TRY(salvage_.read_strays([&](const PageSalvage::Entry& entry) -> Result<void> {
      Result<void> added{};
      visit_stray(incomplete, entry, [&](Part& part, const SalvagedItem& item) {
        if (part.strays[std::string(item.key.bytes())] == item.header.lsn) added = part.writer.add(item);
      });
      return added;
    }));
    for (Part* part : incomplete) {
      QUIRE_TRY(part->writer.flush());
      part->from_strays = part->writer.written() - part->from_strays;
    }
    return {};
  }

  // What could be of two containers is given to neither.
  template <typename Visit>
  static void visit_stray(const std::vector<Part*>& parts, const PageSalvage::Entry& entry,
                          const Visit& visit) {
    Part* owner = nullptr;
    std::optional<SalvagedItem> owned;
    for (Part* part : parts) {
      auto item = part->lost->item_of(entry);
      if (!item) continue;
      if (owner != nullptr) return;
      owner = part;
      owned = item;
    }
    if (owner != nullptr) visit(*owner, *owned);
  }

  void finish(Part& part) {
    RecoveredContainer& report = part.report;
    report.salvaged = part.writer.written();
    const auto& counters = part.lost->counters();
    if (counters)
      report.lost = counters->items - std::min(counters->items, report.salvaged);
    else
      report.lost = part.damaged + part.writer.refused();
    const auto note = [&](std::string text) { report.notes.push_back(std::move(text)); };
    if (part.lost_pages > 0) note(fmt::format("{} pages of items are damaged or missing", part.lost_pages));
    if (part.damaged > 0) note(fmt::format("{} records are damaged", part.damaged));
    if (part.from_strays > 0)
      note(
          fmt::format("{} items come from pages that nothing leads to: some may be of an older state, or "
                      "have been erased",
                      part.from_strays));
    if (part.writer.refused() > 0)
      note(fmt::format("{} items were not taken, the first of them: {}", part.writer.refused(),
                       part.writer.first_refusal()));
    if (part.lost->lost_names() > 0)
      note("names of properties are lost: they are called lost_name_ and a number now");
    if (!counters) note("how many items there were is not known");
    recovery_.containers.push_back(std::move(report));
  }

  // Items whose container's definition is lost cannot be put anywhere.
  Result<void> count_nameless(ContainerNumber number) {
    RecoveredContainer report;
    report.name = fmt::format("(number {})", static_cast<uint32_t>(number));
    QUIRE_TRY(salvage_.read_table(table_name(number, kItemsTable),
                                  [&](const PageSalvage::Entry& entry) -> Result<void> {
                                    report.lost += entry.is_sound;
                                    return {};
                                  }));
    report.notes.push_back("its definition is lost");
    recovery_.containers.push_back(std::move(report));
    return {};
  }

  PageSalvage& salvage_;
  Environment& fresh_;
  std::vector<Part> parts_;
  Recovery recovery_;
};

// The new file under a name of this process until it is whole: a run that is killed leaves none that looks
// so. What was begun is removed.
class FreshFile {
 public:
  // All names are made here: at the end there may be no memory.
  explicit FreshFile(const std::string& path)
      : path_(path), file_(fmt::format("{}-recover-{}", path, getpid())), lock_path_(file_.path() + "-lock") {
    ::unlink(file_.path().c_str());  // of a process of this number that was killed
  }
  ~FreshFile() { ::unlink(lock_path_.c_str()); }
  FreshFile(const FreshFile&) = delete;
  FreshFile& operator=(const FreshFile&) = delete;
  const std::string& path() const { return file_.path(); }
  Result<void> make_as_private_as(const std::string& other) { return file_.make_as_private_as(other); }
  // Once nobody has it open.
  Result<void> keep() { return file_.finish(path_, false); }

 private:
  const std::string& path_;
  UnfinishedFile file_;
  const std::string lock_path_;
};

Result<Recovery> recover_into(PageSalvage& salvage, const std::string& path) {
  QUIRE_ASSIGN(const std::unique_ptr<Environment> environment, Environment::open(path));
  return RecoveryRun(salvage, *environment).run();
}

}  // namespace

std::vector<std::string> Recovery::rows() const {
  std::vector<std::string> rows;
  for (const RecoveredContainer& container : containers) {
    std::string& json = rows.emplace_back("{\"container\":");
    sql::write_json_string(container.name, json);
    json += fmt::format(",\"salvaged\":{},\"lost\":{},\"notes\":[", container.salvaged, container.lost);
    for (const std::string& note : container.notes) {
      if (json.back() != '[') json += ',';
      sql::write_json_string(note, json);
    }
    json += "]}";
  }
  return rows;
}

Result<Recovery> recover_file(const std::string& damaged, const std::string& fresh,
                              const WorkOptions& options) {
  occupy_standard_descriptors();
  if (fresh.empty()) return fail(ErrorCode::cannot_open, "the path of the new file is empty");
  if (::access(fresh.c_str(), F_OK) == 0)
    return fail(ErrorCode::cannot_open, fmt::format("there is a file '{}' already: name a new one", fresh));
  if (fresh == Environment::kInMemory)
    return fail(ErrorCode::invalid_argument, "what is saved needs a file, not a database in memory");
  LongWork work(options, "the recovery was interrupted");
  std::error_code unknown;
  work.expect(std::filesystem::file_size(damaged, unknown));
  QUIRE_ASSIGN(PageSalvage salvage,
               PageSalvage::open(damaged, [&](uint64_t bytes) { return work.advance_by_pages(bytes); }));
  FreshFile file(fresh);
  QUIRE_TRY(file.make_as_private_as(damaged));
  QUIRE_ASSIGN(Recovery recovery, recover_into(salvage, file.path()));
  QUIRE_ASSIGN(const bool has_changed, salvage.has_changed());
  if (has_changed)
    return fail(ErrorCode::busy,
                fmt::format("'{}' was written to meanwhile: close it everywhere first", damaged));
  QUIRE_TRY(file.keep());
  return recovery;
}

}  // namespace quire::engine
