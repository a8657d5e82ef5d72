// Few small things that belong to one item alone and yet stand in items of their own: reading what belongs
// together then takes several requests, and writing it a transaction.
#include <fmt/format.h>

#include <algorithm>

#include "engine/advisor/families.h"

namespace quire::engine {
namespace {

constexpr size_t kLeastParents = 10;
constexpr double kNearlyAll = 0.95;
constexpr double kMostBytes = 2048;  // of one of them, in the mean
constexpr double kFewMean = 5;
constexpr uint64_t kFewMost = 20;
constexpr uint64_t kFewChildren = 10;
// What has more to it lives a life of its own.
constexpr size_t kMostProperties = 8;

const PathFacts* find_path(const ContainerSurvey& survey, std::string_view path) {
  for (const PathFacts* facts : survey.paths.all())
    if (facts->path == path) return facts;
  return nullptr;
}

// {"phoneIds": ["p1", "p2"]}, each named by one item alone.
void find_arrays_of_ids(const Evidence& evidence, const ResolvedReference& reference, Findings& findings) {
  const ReferencePath& path = *reference.path;
  constexpr std::string_view kElement = "/[]";
  if (!path.path.ends_with(kElement) || path.values.size() < kLeastParents || reference.share < kNearlyAll)
    return;
  const PathFacts* const array =
      find_path(evidence.survey, path.path.substr(0, path.path.size() - kElement.size()));
  if (array == nullptr || array->array == nullptr) return;
  const Tally& lengths = array->array->lengths;
  if (lengths.mean() > kFewMean || lengths.most() > kFewMost || lengths.mean() == 0) return;
  const auto alone = static_cast<double>(
      std::ranges::count_if(path.values, [](const auto& row) { return row.second.uses == 1; }));
  if (alone < kNearlyAll * static_cast<double>(path.values.size())) return;
  const Resolution& target = path.resolutions[reference.container];
  const double bytes = target.target_bytes / static_cast<double>(std::max<uint64_t>(1, target.values));
  if (bytes > kMostBytes) return;
  const std::string& container = evidence.survey.containers[reference.container];
  Finding& finding = findings.emplace_back("better_embedded", Severity::advice, array->path);
  finding.what = fmt::format(
      "it names {:.1f} items of {} in the mean and {} at most, of {} each, which no other item names",
      lengths.mean(), container, lengths.most(), bytes_text(bytes));
  finding.numbers.text("container", container).figure("mean", lengths.mean()).count("most", lengths.most());
  finding.numbers.figure("meanBytes", bytes)
      .figure("shareNamedOnce", alone / static_cast<double>(path.values.size()));
  for (const LongArray& item : array->array->longest)
    finding.examples.push_back(item.item.members().count("length", item.length).object());
  finding.advice = fmt::format(
      "embed them: put the items of {} into {} as objects, so that one read gives the whole and one write "
      "changes it",
      container, array->path);
}

// {"personId": "1", "detail": ...}: a few small items for each person.
void find_children(const Evidence& evidence, const ResolvedReference& reference, Findings& findings) {
  const ContainerSurvey& survey = evidence.survey;
  const ReferencePath& path = *reference.path;
  const std::string& parent = survey.containers[reference.container];
  // Within one container parent and children share a partition, which is as good. A sample tells not how many
  // there are of one parent.
  if (parent == survey.container || survey.is_sampled() || path.is_in_array || !path.is_named) return;
  if (path.values.size() < kLeastParents || reference.share < kNearlyAll) return;
  if (survey.bytes.mean() > kMostBytes / 2 || survey.paths.root().members.size() > kMostProperties) return;
  // Things that happen at a time go on happening.
  for (const PathFacts* facts : survey.paths.all())
    if (facts->times * 2 > facts->values) return;
  Tally children;
  const ReferredValue* most = nullptr;
  for (const auto& [text, value] : path.values) {
    children.add(value.uses);
    if (most == nullptr || value.uses > most->uses) most = &value;
  }
  if (children.mean() > kFewMean || children.most() > kFewChildren) return;
  Finding& finding = findings.emplace_back("better_embedded", Severity::advice, path.path);
  finding.what = fmt::format("each item of {} has {:.1f} items here in the mean and {} at most, of {} each",
                             parent, children.mean(), children.most(), bytes_text(survey.bytes.mean()));
  finding.numbers.text("container", parent).figure("mean", children.mean()).count("most", children.most());
  finding.numbers.figure("meanBytes", survey.bytes.mean());
  finding.examples.push_back(
      most->first.members().text(path.name, most->text).count("items", most->uses).object());
  finding.advice = fmt::format(
      "embed them: keep them as an array in their item of {}, so that one read gives the whole and one write "
      "changes it",
      parent);
}

}  // namespace

void find_better_embedded(const Evidence& evidence, Findings& findings) {
  const size_t before = findings.size();
  for (const ResolvedReference& reference : evidence.references) {
    find_arrays_of_ids(evidence, reference, findings);
    if (findings.size() == before) find_children(evidence, reference, findings);
  }
}

}  // namespace quire::engine
