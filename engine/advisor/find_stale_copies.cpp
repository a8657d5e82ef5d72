// The same thing copied into several items, where the copies do not agree: some were left behind by a change.
#include <fmt/format.h>

#include <algorithm>

#include "engine/advisor/families.h"

namespace quire::engine {
namespace {

constexpr uint64_t kLeastComparisons = 5;
// A property of which fewer copies agree is not one of what is copied.
constexpr double kLeastAgreement = 0.5;
// Against what would agree by chance.
constexpr double kMostChance = 0.5;
// With one identity alone chance is not known.
constexpr double kSureAgreement = 0.8;

bool is_stale(const CopiedProperty& property) {
  if (property.different == 0 || property.same + property.different < kLeastComparisons) return false;
  if (property.compared_by_chance == 0) return property.agreement() >= kSureAgreement;
  return property.agreement() >= kLeastAgreement && property.chance() <= kMostChance * property.agreement();
}

}  // namespace

void find_stale_copies(const Evidence& evidence, Findings& findings) {
  for (const CopiedPath* copied : evidence.survey.copies.paths()) {
    std::vector<const CopiedProperty*> stale;
    for (const CopiedProperty& property : copied->properties)
      if (is_stale(property)) stale.push_back(&property);
    if (stale.empty()) continue;
    const auto* const worst = *std::ranges::max_element(stale, {}, &CopiedProperty::identities_that_differ);
    std::string names;
    for (const CopiedProperty* property : stale) names += (names.empty() ? "" : ", ") + property->name;
    Finding& finding = findings.emplace_back(
        "stale_copies", Severity::warning, copied->is_flat ? copied->path + "/" + worst->name : copied->path);
    finding.what = fmt::format(
        "copies of what {} names stand in several items and differ in {}: {} of {} that are copied, {} of {} "
        "copies",
        copied->identity, names, worst->identities_that_differ, copied->identities_copied, worst->different,
        worst->same + worst->different);
    finding.numbers.count("copies", copied->copies).count("copied", copied->identities_copied);
    finding.numbers.count("differing", worst->identities_that_differ);
    finding.numbers.figure("agreement", worst->agreement()).text("properties", names);
    finding.examples = worst->examples;
    finding.advice = fmt::format(
        "bring the copies up to date (UPDATE {} c SET ... WHERE ...), and have each change of the original "
        "reach them: by the "
        "change feed, or by keeping {} alone and looking the rest up. Copies that are meant to keep what was "
        "true at the "
        "time are right as they are",
        evidence.survey.container, copied->identity);
  }
}

}  // namespace quire::engine
