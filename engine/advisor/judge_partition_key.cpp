// How good the partition key is: how many values it has, how evenly items and writes fall on them, and which
// other properties would do better.
#include <fmt/format.h>

#include <algorithm>

#include "engine/advisor/families.h"

namespace quire::engine {
namespace {

// Few values for many items: partitions grow with the container, and load has few places to go.
struct FewValues {
  uint64_t partitions;
  uint64_t items;
};
constexpr FewValues kFewValues[] = {{1, 50}, {3, 100}, {10, 1000}, {50, 100'000}};
// One partition has much more than its share.
constexpr uint64_t kLeastItems = 100;
constexpr double kLargestShare = 0.3;
constexpr double kTimesMean = 4;
constexpr double kUneven = 0.5;  // Gini
// In the cloud a partition key value may hold 20 GB.
constexpr uint64_t kLargePartition = uint64_t{10} << 30;
// A container this large wants a partition key.
constexpr double kLargeContainer = 1e9;
constexpr double kMissingShare = 0.01;
constexpr uint64_t kMissingItems = 5;
// Writes of one time that go to one partition.
constexpr double kHotShare = 0.5;
constexpr uint64_t kHotPartitions = 10;
// What a better key has.
constexpr size_t kLeastCandidateValues = 10;
constexpr double kTimesBetter = 2;
constexpr double kLongestCandidate = 64;  // bytes, in the mean
constexpr size_t kMostCandidates = 3;

struct Figures {
  uint64_t values = 0;
  double largest_share = 0;
  double gini = 0;
};

struct Candidate {
  std::string path;
  Figures figures;
};

Figures figures_of(const PartitionSurvey& partitions) {
  if (partitions.count() == 0) return {};
  return {partitions.count(), static_cast<double>(partitions.items().most()) / partitions.items().sum(),
          partitions.items().gini()};
}

// Properties that every item has, of many values, none of which has a great share; the most even first.
std::vector<Candidate> better_candidates(const ContainerSurvey& survey, const Figures& current) {
  std::vector<Candidate> candidates;
  for (const PathFacts* path : survey.paths.all()) {
    if (path->scalars == nullptr || path->path == "/id" || path->items != survey.sampled_items) continue;
    const bool is_key =
        std::ranges::find(survey.partition_key_paths, path->path) != survey.partition_key_paths.end();
    const bool is_plain = path->kind_count(sql::Kind::real) == 0 && path->bytes.mean() <= kLongestCandidate &&
                          path->times * 2 < path->values;
    const uint64_t values = path->scalars->counts.size();
    // As many values as items: no better than the id.
    if (is_key || !is_plain || values < kLeastCandidateValues || values * 10 > survey.sampled_items * 9)
      continue;
    Tally items;
    for (const auto& [value, count] : path->scalars->counts) items.add(count);
    const Figures figures{values, static_cast<double>(items.most()) / items.sum(), items.gini()};
    const bool is_better =
        current.values == 0 || figures.largest_share * kTimesBetter <= current.largest_share;
    if (is_better) candidates.push_back({path->path, figures});
  }
  std::ranges::stable_sort(candidates, {}, [](const Candidate& c) { return c.figures.largest_share; });
  if (candidates.size() > kMostCandidates) candidates.resize(kMostCandidates);
  return candidates;
}

std::string candidates_json(const std::vector<Candidate>& candidates) {
  std::string json = "[";
  for (const Candidate& candidate : candidates) {
    JsonMembers row;
    row.text("path", candidate.path).count("values", candidate.figures.values);
    row.figure("largestShare", candidate.figures.largest_share).figure("gini", candidate.figures.gini);
    json += (json.size() > 1 ? "," : "") + row.object();
  }
  return json + "]";
}

std::string advice_of(const std::vector<Candidate>& candidates, std::string_view otherwise) {
  if (candidates.empty()) return std::string(otherwise);
  std::string text = "a better partition key would be ";
  for (size_t i = 0; i < candidates.size(); ++i)
    text += fmt::format("{}{} ({} values, the largest {})", i == 0 ? "" : " or ", candidates[i].path,
                        candidates[i].figures.values, percent_text(candidates[i].figures.largest_share));
  return text +
         ": make a container with it and INSERT INTO it SELECT * FROM this one; or a hierarchical key, with "
         "this one first";
}

// A problem of the key, if there is one.
struct Problem {
  std::string_view kind;
  Severity severity;
  std::string what;
  std::string_view advice;  // where there is no better candidate
};

std::optional<Problem> find_few_values(const ContainerSurvey& survey, const Figures& figures) {
  const bool are_few = std::ranges::any_of(kFewValues, [&](const FewValues& row) {
    return figures.values <= row.partitions && survey.items >= row.items;
  });
  if (!are_few) return std::nullopt;
  return Problem{"partition_key_few_values", Severity::warning,
                 fmt::format("{} items lie in {} partitions, the largest of which has {}", survey.items,
                             figures.values, percent_text(figures.largest_share)),
                 "add a second, finer path to the key (a hierarchical key of up to three), such as the id"};
}

std::optional<Problem> find_skew(const ContainerSurvey& survey, const Figures& figures) {
  const bool is_skewed =
      survey.items >= kLeastItems && figures.values > 1 && figures.largest_share >= kLargestShare &&
      figures.largest_share * static_cast<double>(figures.values) >= kTimesMean && figures.gini >= kUneven;
  if (!is_skewed) return std::nullopt;
  return Problem{
      "partition_key_skew", Severity::warning,
      fmt::format("the largest of {} partitions has {} of the items, {:.0f} times the mean; Gini {:.2f}",
                  figures.values, percent_text(figures.largest_share),
                  figures.largest_share * static_cast<double>(figures.values), figures.gini),
      "split the largest ones: add a second path to the key (a hierarchical key), such as the id"};
}

std::optional<Problem> find_hot_spot(const ContainerSurvey& survey, const Figures& figures) {
  const PartitionSurvey& partitions = survey.partitions;
  if (figures.values < kHotPartitions) return std::nullopt;
  const bool is_dated = partitions.dated() * 2 > figures.values;
  const double busiest = partitions.busiest_share();
  const bool is_hot = busiest >= kHotShare && busiest >= kTimesBetter * figures.largest_share;
  if (!is_dated && !is_hot) return std::nullopt;
  const std::string what =
      is_hot ? fmt::format(
                   "of the items written at about the same time (_ts), {} went to one partition in the mean",
                   percent_text(busiest))
             : "the key is a date or a time";
  return Problem{"write_hot_spot", Severity::warning, what + ": at any time all writes go to one partition",
                 "put what tells the writers apart (a device, a customer) first in the key, the time second"};
}

std::optional<Problem> find_problem(const ContainerSurvey& survey, const Figures& figures) {
  for (const auto find : {find_few_values, find_hot_spot, find_skew})
    if (auto problem = find(survey, figures)) return problem;
  return std::nullopt;
}

void add_figures(JsonMembers& numbers, const ContainerSurvey& survey, const Figures& figures) {
  const PartitionSurvey& partitions = survey.partitions;
  numbers.count("partitions", figures.values).figure("itemsInTheMean", partitions.items().mean());
  numbers.figure("largestShare", figures.largest_share).figure("gini", figures.gini);
  numbers.count("largestBytes", partitions.bytes().most()).json("sizes", partitions.bytes().histogram_json());
  std::string largest = "[";
  for (const Partition& partition : partitions.largest()) {
    JsonMembers row;
    row.json("partitionKey", partition.key).count("items", partition.items).count("bytes", partition.bytes);
    largest += (largest.size() > 1 ? "," : "") + row.object();
  }
  numbers.json("largest", largest + "]");
}

std::string key_text(const ContainerSurvey& survey) {
  std::string text;
  for (const std::string& path : survey.partition_key_paths) text += (text.empty() ? "" : ", ") + path;
  return text;
}

void judge_key(const Evidence& evidence, Findings& findings) {
  const ContainerSurvey& survey = evidence.survey;
  const PartitionSurvey& partitions = survey.partitions;
  const Figures figures = figures_of(partitions);
  const auto problem = find_problem(survey, figures);
  Finding& finding = findings.emplace_back(problem ? problem->kind : "partition_key",
                                           problem ? problem->severity : Severity::note, key_text(survey));
  finding.what =
      problem ? problem->what
              : fmt::format("{} partitions of {:.1f} items in the mean; the largest has {}; Gini {:.2f}",
                            figures.values, partitions.items().mean(), percent_text(figures.largest_share),
                            figures.gini);
  add_figures(finding.numbers, survey, figures);
  if (problem) {
    const auto candidates = better_candidates(survey, figures);
    finding.numbers.json("candidates", candidates_json(candidates));
    finding.advice = advice_of(candidates, problem->advice);
    for (const Partition& partition :
         std::span(partitions.largest())
             .first(std::min<size_t>(kMostExamples, partitions.largest().size()))) {
      JsonMembers row;
      row.json("partitionKey", partition.key).count("items", partition.items);
      finding.examples.push_back(row.object());
    }
  }
  const uint64_t missing = partitions.items_without_key();
  if (missing >= kMissingItems &&
      static_cast<double>(missing) >= kMissingShare * static_cast<double>(survey.items)) {
    Finding& lacking = findings.emplace_back("partition_key_missing", Severity::warning, key_text(survey));
    lacking.what =
        fmt::format("{} of {} items lack the partition key, or have null there, and so share a partition",
                    missing, survey.items);
    lacking.numbers.count("items", missing)
        .figure("share", static_cast<double>(missing) / static_cast<double>(survey.items));
    lacking.advice = "give them a partition key: write them anew with it and delete the old ones";
  }
  if (partitions.bytes().most() >= kLargePartition) {
    Finding& large = findings.emplace_back("partition_too_large", Severity::warning, key_text(survey));
    large.what =
        fmt::format("the largest partition has {}; in the cloud service a partition key value may hold 20 GB",
                    bytes_text(static_cast<double>(partitions.bytes().most())));
    large.numbers.count("largestBytes", partitions.bytes().most());
    large.advice = "add a finer path to the key (a hierarchical key)";
  }
}

}  // namespace

void judge_partition_key(const Evidence& evidence, Findings& findings) {
  const ContainerSurvey& survey = evidence.survey;
  if (survey.items == 0) return;
  if (survey.partitions.has_key()) return judge_key(evidence, findings);
  if (survey.bytes.sum() < kLargeContainer) return;
  const auto candidates = better_candidates(survey, {});
  Finding& finding = findings.emplace_back("no_partition_key", Severity::advice);
  finding.what = fmt::format("the container has no partition key and {}; the cloud service wants one",
                             bytes_text(survey.bytes.sum()));
  finding.numbers.count("bytes", static_cast<uint64_t>(survey.bytes.sum()))
      .json("candidates", candidates_json(candidates));
  finding.advice = advice_of(candidates, "make a container with PARTITION KEY (/id) and copy the items");
}

}  // namespace quire::engine
