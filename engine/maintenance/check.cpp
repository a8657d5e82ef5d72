#include "engine/maintenance/check.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <utility>

#include "engine/maintenance/container_check.h"
#include "engine/maintenance/opened_containers.h"
#include "sql/value/json.h"

namespace quire::engine {
namespace {

void add_member(std::string& json, std::string_view name, std::string_view text) {
  json += json.empty() ? '{' : ',';
  sql::write_json_string(name, json);
  json += ':';
  sql::write_json_string(text, json);
}

Result<void> check_pages(const Environment& environment, LongWork& work, CheckReport& report) {
  QUIRE_ASSIGN(
      const std::vector<PageFault> faults,
      environment.check_pages(CheckReport::kMostFindings, [&](uint64_t) { return work.advance(0); }));
  for (const PageFault& fault : faults)
    report.add({"", place_of(fault), fault.what,
                "save what is intact by `.recover`, or restore the file from a backup"});
  return {};
}

}  // namespace

void CheckReport::add(CheckFinding finding) {
  ++finding_count_;
  if (findings_.size() < kMostFindings) findings_.push_back(std::move(finding));
}

std::vector<std::string> CheckReport::rows() const {
  std::vector<std::string> rows;
  for (const CheckFinding& finding : findings_) {
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
  CheckReport report;
  LongWork work(options, "the check was interrupted");
  QUIRE_TRY(check_pages(environment, work, report));
  // LMDB trusts its pages: nothing more is asked of it.
  if (report.finding_count() != 0) return report;
  QUIRE_ASSIGN(const OpenedContainers opened, open_containers(environment, container, &report));
  for (const auto& store : opened.stores) {
    QUIRE_ASSIGN(const uint64_t items, opened.snapshot.count(store->items_table()));
    QUIRE_ASSIGN(const uint64_t entries, opened.snapshot.count(store->indexes().table()));
    work.expect(items + entries);
  }
  for (const auto& store : opened.stores) {
    QUIRE_TRY(ContainerCheck(opened.snapshot, *store, work, report).run());
    ++report.containers;
  }
  return report;
}

std::string printable(std::string_view bytes) {
  if (simdjson::validate_utf8(bytes.data(), bytes.size())) return std::string(bytes);
  std::string text = "0x";
  for (const char byte : bytes) text += fmt::format("{:02X}", static_cast<uint8_t>(byte));
  return text;
}

}  // namespace quire::engine
