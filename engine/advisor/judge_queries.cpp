// The queries that were run on the container: those that read all items for want of an index, and those that
// do not say which partition they want.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "engine/advisor/families.h"
#include "sql/parse/literals.h"

namespace quire::engine {
namespace {

// One run may have been a question asked once.
constexpr uint64_t kLeastRuns = 2;
constexpr uint64_t kLeastKeyedRuns = 10;
constexpr double kLeastKeyedShare = 0.5;
constexpr size_t kShownShapes = 10;

double per_run(uint64_t count, uint64_t runs) {
  return static_cast<double>(count) / static_cast<double>(std::max<uint64_t>(1, runs));
}

std::string shape_json(const QueryShape& shape) {
  JsonMembers row;
  row.text("query", shape.facts.text).count("runs", shape.runs);
  row.figure("itemsRead", per_run(shape.items_read, shape.runs))
      .figure("rows", per_run(shape.rows, shape.runs));
  row.figure("requestUnits", shape.charge / static_cast<double>(std::max<uint64_t>(1, shape.runs)));
  return row.object();
}

const ContainerUse& use_of(const QueryShape& shape, std::string_view container) {
  return *std::ranges::find(shape.facts.uses, container, &ContainerUse::container);
}

// By the index that would help.
void find_missing_indexes(const Evidence& evidence, Findings& findings) {
  std::map<std::string, std::vector<const QueryShape*>> by_advice;
  std::string prefix = "CREATE INDEX ON ";
  sql::append_name(prefix, evidence.survey.container);
  prefix += ' ';
  for (const QueryShape& shape : evidence.queries)
    if (shape.facts.index_advice.starts_with(prefix)) by_advice[shape.facts.index_advice].push_back(&shape);
  for (const auto& [advice, shapes] : by_advice) {
    uint64_t runs = 0, items = 0, rows = 0;
    for (const QueryShape* shape : shapes) {
      runs += shape->runs;
      items += shape->items_read;
      rows += shape->rows;
    }
    if (runs < kLeastRuns) continue;
    const size_t from = advice.find('(', prefix.size());
    Finding& finding = findings.emplace_back("query_without_index", Severity::advice,
                                             advice.substr(from + 1, advice.rfind(')') - from - 1));
    finding.what = fmt::format("{} runs of {} queries read {:.0f} items each for {:.1f} rows", runs,
                               shapes.size(), per_run(items, runs), per_run(rows, runs));
    finding.numbers.count("runs", runs)
        .figure("itemsRead", per_run(items, runs))
        .figure("rows", per_run(rows, runs));
    for (const QueryShape* shape : std::span(shapes).first(std::min(kMostExamples, shapes.size())))
      finding.examples.push_back(shape_json(*shape));
    finding.advice = advice;
  }
}

void find_unkeyed_queries(const Evidence& evidence, Findings& findings) {
  const ContainerSurvey& survey = evidence.survey;
  if (!survey.partitions.has_key() || survey.partitions.count() < 2) return;
  uint64_t runs = 0, keyed = 0;
  std::vector<const QueryShape*> unkeyed;
  for (const QueryShape& shape : evidence.queries) {
    const ContainerUse& use = use_of(shape, survey.container);
    if (!use.has_conditions) continue;
    runs += shape.runs;
    if (use.names_partition_key)
      keyed += shape.runs;
    else
      unkeyed.push_back(&shape);
  }
  if (runs < kLeastKeyedRuns) return;
  const double share = per_run(keyed, runs);
  const bool are_few = share < kLeastKeyedShare;
  Finding& finding =
      findings.emplace_back(are_few ? "queries_across_partitions" : "queries_with_partition_key",
                            are_few ? Severity::advice : Severity::note);
  finding.what = fmt::format("{} of {} recorded runs of queries with conditions name the partition key ({})",
                             keyed, runs, percent_text(share));
  finding.numbers.count("runs", runs).count("naming", keyed).figure("share", share);
  if (!are_few) return;
  for (const QueryShape* shape : std::span(unkeyed).first(std::min(kMostExamples, unkeyed.size())))
    finding.examples.push_back(shape_json(*shape));
  finding.advice =
      "partition by what most queries ask for, or name the partition key in them: in the cloud service a "
      "query without "
      "it goes to every partition and costs accordingly";
}

void tell_mix(const Evidence& evidence, Findings& findings) {
  if (evidence.queries.empty()) return;
  uint64_t runs = 0;
  std::string mix = "[";
  double charge = 0;
  for (const QueryShape& shape : evidence.queries) {
    runs += shape.runs;
    charge += shape.charge;
  }
  for (const QueryShape& shape : evidence.queries.first(std::min(kShownShapes, evidence.queries.size())))
    mix += (mix.size() > 1 ? "," : "") + shape_json(shape);
  Finding& finding = findings.emplace_back("query_mix", Severity::note);
  finding.what = fmt::format("{} runs of {} different queries since the database was opened", runs,
                             evidence.queries.size());
  finding.numbers.figure("requestUnits", charge)
      .count("runs", runs)
      .count("queries", evidence.queries.size())
      .json("mix", mix + "]");
}

}  // namespace

void judge_queries(const Evidence& evidence, Findings& findings) {
  find_missing_indexes(evidence, findings);
  find_unkeyed_queries(evidence, findings);
  tell_mix(evidence, findings);
}

}  // namespace quire::engine
