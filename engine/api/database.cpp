#include "engine/api/database.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

namespace quire::engine {
namespace {

// How often containers may be opened by others while they are being described.
constexpr int kMostTries = 16;

constexpr std::string_view kItemCount = "itemCount";
constexpr std::string_view kBytes = "bytes";

// The definition with its counters as last members, in place of any that it was created with.
void append_description(ContainerDefinition definition, const ContainerStatistics& statistics,
                        std::string& out) {
  std::erase_if(definition.other_properties, [](const auto& property) {
    return property.first == kItemCount || property.first == kBytes;
  });
  std::string json = definition.to_json();
  json.pop_back();  // the closing brace; an id at least stands before it
  fmt::format_to(std::back_inserter(out), R"({},"{}":{},"{}":{}}})", json, kItemCount, statistics.items,
                 kBytes, statistics.document_bytes);
}

}  // namespace

Result<void> Database::describe_file(std::string& out) const {
  QUIRE_ASSIGN(const FileFacts facts, environment_->facts());
  out += fmt::format(R"({{"fileBytes":{},"usedBytes":{},"mapBytes":{},"readers":{},"oldestReader":)",
                     facts.file_bytes, facts.used_bytes, facts.map_bytes, facts.readers);
  if (facts.readers == 0)
    out += "null}";
  else
    out += fmt::format(R"({{"process":{},"commits":{}}}}})", facts.oldest_reader_process,
                       facts.oldest_reader_lag);
  return {};
}

Result<void> Database::describe_containers(std::string& out) {
  const size_t start = out.size();
  for (int tries = 0; tries < kMostTries; ++tries) {
    out.resize(start);
    QUIRE_ASSIGN(const bool is_done, try_to_describe(out));
    if (is_done) return {};
  }
  return fail(ErrorCode::busy, "containers were made and opened all the time; try again");
}

// False if a container was opened after the snapshot began.
Result<bool> Database::try_to_describe(std::string& out) {
  containers_.go_on_building();
  const uint64_t openings = containers_.openings();
  QUIRE_ASSIGN(const ReadTransaction snapshot, environment_->begin_read());
  QUIRE_ASSIGN(std::vector<CatalogEntry> entries, containers_.catalog().list(snapshot));
  bool is_outdated = false;
  out += '[';
  for (CatalogEntry& entry : entries) {
    QUIRE_ASSIGN(const auto opened, containers_.find(snapshot, entry.definition.name));
    if (opened.store == nullptr || opened.opening > openings) is_outdated = true;
    if (is_outdated) continue;  // but open the others too, for the next try
    QUIRE_ASSIGN(const ContainerStatistics statistics, opened.store->live_statistics(snapshot));
    if (out.back() != '[') out += ',';
    append_description(std::move(entry.definition), statistics, out);
  }
  out += ']';
  return !is_outdated;
}

}  // namespace quire::engine
