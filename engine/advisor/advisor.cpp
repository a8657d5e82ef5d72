#include "engine/advisor/advisor.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/advisor/families.h"

namespace quire::engine {
namespace {

// A new family is a row and a file.
using Family = void (*)(const Evidence& evidence, Findings& findings);
constexpr Family kFamilies[] = {
    find_near_limits,    find_growing_arrays,  find_large_subdocuments, find_stale_copies, find_references,
    judge_partition_key, find_better_embedded, judge_queries,           find_types,
};

Finding summary_of(const Evidence& evidence, const Findings& findings) {
  const ContainerSurvey& survey = evidence.survey;
  const auto to_change = static_cast<uint64_t>(std::ranges::count_if(
      findings, [](const Finding& finding) { return finding.severity != Severity::note; }));
  uint64_t runs = 0;
  for (const QueryShape& shape : evidence.queries) runs += shape.runs;
  Finding summary("summary", Severity::note);
  summary.what =
      survey.is_sampled()
          ? fmt::format("sizes, keys and times of all {} items were read; the insides of a sample of {}",
                        survey.items, survey.sampled_items)
          : fmt::format("all {} items were read", survey.items);
  summary.numbers.text("container", survey.container).count("items", survey.items);
  summary.numbers.count("bytes", static_cast<uint64_t>(survey.bytes.sum()))
      .count("sampledItems", survey.sampled_items);
  summary.numbers.json("isSampled", survey.is_sampled() ? "true" : "false");
  summary.numbers.count("queryRuns", runs).count("toChange", to_change);
  summary.advice = to_change == 0 ? "nothing to change" : fmt::format("{} to change", to_change);
  return summary;
}

}  // namespace

Result<std::vector<std::string>> advise(sql::Source& source, sql::Collection& collection,
                                        const AdviseOptions& options) {
  SurveyOptions surveying;
  surveying.item_limit = options.item_limit;
  surveying.work = options.work;
  QUIRE_ASSIGN(const ContainerSurvey found, survey(source, collection, surveying));
  const Evidence evidence{.survey = found,
                          .item_limit = options.item_limit,
                          .queries = options.queries,
                          .references = resolved_references(found)};
  Findings findings;
  for (const Family family : kFamilies) family(evidence, findings);
  std::ranges::stable_sort(findings, std::ranges::greater(), &Finding::severity);
  std::vector<std::string> rows = {summary_of(evidence, findings).to_json()};
  for (const Finding& finding : findings) rows.push_back(finding.to_json());
  return rows;
}

}  // namespace quire::engine
