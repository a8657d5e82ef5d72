// References and what share of them leads somewhere.
#include <fmt/format.h>

#include <algorithm>

#include "engine/advisor/families.h"

namespace quire::engine {
namespace {

// Without a container of the property's name, so many of the values must lead to items of one container.
constexpr double kLeastShareOfNamed = 0.5;
constexpr double kLeastShareOfUnnamed = 0.9;
constexpr size_t kLeastValues = 3;
// Ids that are small numbers meet those of any container.
constexpr size_t kLeastDigits = 5;

// Whether the name of a property says that it leads to this container: personId, and homeAddressId, to person
// and address; typeId to contactDetailType.
bool names_container(std::string_view property, std::string_view container) {
  const std::string_view stem = stem_of_reference(property);
  const std::string_view word = stem.empty() ? property : stem;
  if (is_same_noun(word, container)) return true;
  constexpr size_t kLeastWord = 4;
  const auto is_last_word = [](std::string_view longer, std::string_view last) {
    if (longer.size() <= last.size() || last.size() < kLeastWord) return false;
    for (size_t at = 1; at < longer.size(); ++at) {
      const char c = longer[at];
      const bool begins_word = (c >= 'A' && c <= 'Z') || longer[at - 1] == '_' || longer[at - 1] == '-';
      if (begins_word && is_same_noun(longer.substr(at), last)) return true;
    }
    return false;
  };
  return is_last_word(word, container) || (!stem.empty() && is_last_word(container, stem));
}

double share_of(const ReferencePath& path, size_t container) {
  return static_cast<double>(path.resolutions[container].values) / static_cast<double>(path.values.size());
}

std::optional<ResolvedReference> resolve(const ContainerSurvey& survey, const ReferencePath& path) {
  if (path.values.empty() || path.resolutions.empty()) return std::nullopt;
  // A property that repeats the item's own id leads nowhere.
  if (path.own_ids == path.uses) return std::nullopt;
  std::optional<ResolvedReference> named, best;
  for (size_t container = 0; container < survey.containers.size(); ++container) {
    const ResolvedReference here{&path, container, share_of(path, container)};
    if (!best || here.share > best->share) best = here;
    const bool is_named =
        (path.is_named || path.is_in_array) && names_container(path.name, survey.containers[container]);
    if (is_named && (!named || here.share > named->share)) named = here;
  }
  if (named && (path.is_named || named->share > 0)) return named;
  if (!best) return std::nullopt;
  const bool are_enough = path.values.size() >= (path.is_digits ? kLeastDigits : kLeastValues);
  const double needed = path.is_named && !path.is_digits ? kLeastShareOfNamed : kLeastShareOfUnnamed;
  if (!are_enough || best->share < needed || (path.is_digits && !path.is_named)) return std::nullopt;
  return best;
}

}  // namespace

std::vector<ResolvedReference> resolved_references(const ContainerSurvey& survey) {
  std::vector<ResolvedReference> references;
  for (const ReferencePath* path : survey.references.paths())
    if (const auto resolved = resolve(survey, *path)) references.push_back(*resolved);
  return references;
}

void find_references(const Evidence& evidence, Findings& findings) {
  for (const ResolvedReference& reference : evidence.references) {
    const ReferencePath& path = *reference.path;
    const std::string& target = evidence.survey.containers[reference.container];
    const uint64_t resolved = path.resolutions[reference.container].values;
    const uint64_t dangling = path.values.size() - resolved;
    Finding& finding = findings.emplace_back(dangling == 0 ? "references" : "dangling_references",
                                             dangling == 0 ? Severity::note : Severity::warning, path.path);
    finding.what = fmt::format("it names items of {}: {} of {} different values lead to one ({})", target,
                               resolved, path.values.size(), percent_text(reference.share));
    finding.numbers.text("container", target).count("uses", path.uses).count("values", path.values.size());
    finding.numbers.count("resolved", resolved).count("dangling", dangling);
    finding.numbers.figure("shareResolved", reference.share);
    if (dangling == 0) continue;
    std::vector<const ReferredValue*> lost;
    for (const auto& [text, value] : path.values)
      if ((value.found_in >> reference.container & 1) == 0) lost.push_back(&value);
    std::ranges::sort(lost, {}, &ReferredValue::text);
    for (const ReferredValue* value : std::span(lost).first(std::min(kMostExamples, lost.size())))
      finding.examples.push_back(
          value->first.members().text(path.name, value->text).count("uses", value->uses).object());
    finding.advice = fmt::format(
        "put the missing items back into {}, or take the references out; from now on delete what refers to "
        "an item in the "
        "same transaction (BEGIN ... COMMIT, or a trigger ALWAYS on DELETE)",
        target);
  }
}

}  // namespace quire::engine
