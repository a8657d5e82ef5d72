// Parts of items that make up most of their bytes and that queries seldom ask for: every read and every write
// of the item pays for them.
#include <fmt/format.h>

#include <algorithm>

#include "engine/advisor/families.h"

namespace quire::engine {
namespace {

constexpr size_t kDeepest = 3;
// With so many runs recorded, what they read is known.
constexpr uint64_t kLeastRuns = 10;
constexpr double kRarely = 0.1;
constexpr double kLargeBytes = 2048;
constexpr double kLargeShare = 0.4;
// Without: only what can hardly be meant to travel with the item.
constexpr double kVeryLargeBytes = 16 * 1024;
constexpr double kVeryLargeShare = 0.7;
// A few items that have it are no model.
constexpr uint64_t kLeastItems = 3;

struct Reads {
  uint64_t runs = 0;
  uint64_t reading = 0;
};

std::string_view top_of(std::string_view path) {
  path.remove_prefix(1);
  return path.substr(0, path.find('/'));
}

Reads reads_of(const Evidence& evidence, std::string_view property) {
  Reads reads;
  for (const QueryShape& shape : evidence.queries)
    for (const ContainerUse& use : shape.facts.uses) {
      if (use.container != evidence.survey.container) continue;
      reads.runs += shape.runs;
      if (use.reads_whole_items || std::ranges::find(use.properties, property) != use.properties.end())
        reads.reading += shape.runs;
    }
  return reads;
}

Finding large_subdocument(const PathFacts& path, const Reads& reads, double share) {
  Finding finding("large_subdocument", Severity::advice, path.path);
  finding.what = fmt::format("it takes {} in the mean, {} of all bytes of the items",
                             bytes_text(path.bytes.mean()), percent_text(share));
  const bool is_known = reads.runs >= kLeastRuns;
  if (is_known) {
    finding.severity = Severity::warning;
    finding.what += fmt::format("; {} of {} recorded runs of queries read it", reads.reading, reads.runs);
  } else {
    finding.what += "; too few queries have run since the database was opened to say how often it is read";
  }
  finding.numbers.count("items", path.items).figure("meanBytes", path.bytes.mean());
  finding.numbers.count("mostBytes", path.bytes.most()).figure("shareOfBytes", share);
  finding.numbers.count("runs", reads.runs).count("runsReadingIt", reads.reading);
  finding.examples.push_back(path.biggest.item.members()
                                 .count("bytes", path.biggest.bytes)
                                 .count("itemBytes", path.biggest.item_bytes)
                                 .object());
  finding.advice = fmt::format(
      "{}move {} into an item of its own, in the same partition, under an id that the item's own gives "
      "(\"<id>-{}\"): reads and writes of the rest then cost a fraction",
      is_known ? "" : "if it is rarely read, ", path.path, path.name);
  return finding;
}

}  // namespace

void find_large_subdocuments(const Evidence& evidence, Findings& findings) {
  std::vector<std::string> found;
  for (const PathFacts* path : evidence.survey.paths.all()) {
    if (path->depth > kDeepest || path->is_within_array || path->items < kLeastItems || growth_of(*path))
      continue;
    const double share =
        evidence.survey.sampled_bytes > 0 ? path->bytes.sum() / evidence.survey.sampled_bytes : 0;
    const Reads reads = reads_of(evidence, top_of(path->path));
    const bool is_known = reads.runs >= kLeastRuns;
    if (is_known && static_cast<double>(reads.reading) >= kRarely * static_cast<double>(reads.runs)) continue;
    if (path->bytes.mean() < (is_known ? kLargeBytes : kVeryLargeBytes)) continue;
    if (share < (is_known ? kLargeShare : kVeryLargeShare)) continue;
    // What is within it goes with it.
    const bool is_within = std::ranges::any_of(
        found, [&](const std::string& outer) { return path->path.starts_with(outer + "/"); });
    if (is_within) continue;
    found.push_back(path->path);
    findings.push_back(large_subdocument(*path, reads, share));
  }
}

}  // namespace quire::engine
