// Items that the next write may make too large, too deep or too long in their id.
#include <fmt/format.h>

#include "engine/advisor/families.h"
#include "sql/value/document.h"

namespace quire::engine {
namespace {

constexpr double kVeryNear = 0.8;
constexpr size_t kDeep = sql::kMostNesting * 3 / 4;
constexpr uint64_t kMostIdBytes = 1023;
constexpr uint64_t kLongId = 900;

Finding near_item_limit(const ContainerSurvey& survey, uint64_t limit) {
  const LongArray& largest = survey.largest.front();
  const double used = static_cast<double>(largest.bytes) / static_cast<double>(limit);
  Finding finding("near_item_limit", used >= kVeryNear ? Severity::warning : Severity::advice);
  finding.what = fmt::format("{} of {} items take more than half of the item limit of {}; the largest {}",
                             survey.items_near_limit, survey.items, bytes_text(static_cast<double>(limit)),
                             percent_text(used));
  finding.numbers.count("items", survey.items_near_limit).count("limitBytes", limit);
  finding.numbers.count("largestBytes", largest.bytes).figure("shareOfItemLimit", used);
  for (const LongArray& item : survey.largest)
    if (static_cast<double>(item.bytes) >= kNearLimit * static_cast<double>(limit))
      finding.examples.push_back(item.item.members().count("bytes", item.bytes).object());
  finding.advice =
      "split these items: move what grows or is rarely read into items of their own in the same partition; a "
      "write past "
      "the limit fails with too_large (413)";
  return finding;
}

}  // namespace

void find_near_limits(const Evidence& evidence, Findings& findings) {
  const ContainerSurvey& survey = evidence.survey;
  if (survey.items_near_limit > 0) findings.push_back(near_item_limit(survey, evidence.item_limit));
  if (survey.paths.deepest() >= kDeep) {
    Finding& finding = findings.emplace_back("near_nesting_limit", Severity::warning);
    finding.what = fmt::format("objects and arrays stand {} deep within each other; the limit is {}",
                               survey.paths.deepest(), sql::kMostNesting);
    finding.numbers.count("deepest", survey.paths.deepest()).count("limit", sql::kMostNesting);
    finding.examples.push_back(survey.paths.deepest_item().members().object());
    finding.advice = "flatten the tree: give each node an item, or a list of nodes that name their parents";
  }
  if (survey.longest_id >= kLongId) {
    Finding& finding = findings.emplace_back("near_id_limit", Severity::advice, "/id");
    finding.what = fmt::format("ids have up to {} bytes; the limit is {}", survey.longest_id, kMostIdBytes);
    finding.numbers.count("longest", survey.longest_id).count("limit", kMostIdBytes);
    finding.examples.push_back(survey.item_with_longest_id.members().object());
    finding.advice = "make ids of a bounded length, such as a hash of the long text";
  }
}

}  // namespace quire::engine
