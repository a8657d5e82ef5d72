#include "tests/oracle/page_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "quire/quire.hpp"
#include "tests/oracle/answer.h"
#include "tests/oracle/generator.h"

namespace quire::sql::oracle {
namespace {

// A page, or all where `size` is -1: its rows as text, how many they are, and where the next goes on.
constexpr std::string_view kPage = R"(function (query, size, continuation) {
  __.queryDocuments(__.getSelfLink(), query, { pageSize: size, continuation: continuation },
    function (err, rows, options) {
      if (err) throw err;
      getContext().getResponse().setBody({ count: rows.length, next: options.continuation || '',
                                           rows: JSON.stringify(rows).slice(1, -1) });
    });
})";

constexpr std::string_view kRows = R"(","rows":")";  // what stands before them, which are the last

constexpr std::string_view kDefinitions[] = {
    R"({"id":"d","partitionKey":{"paths":["/pk"]}})",
    R"({"id":"d","partitionKey":{"paths":["/pk"]},"indexingPolicy":{"includedPaths":[{"path":"/*"}]}})",
    R"({"id":"d","partitionKey":{"paths":["/pk"]},"indexes":[{"name":"n","paths":[{"path":"/n"},{"path":"/a"}]}]})"};

// Texts as they stand within JSON.
struct Page {
  std::string rows = {};
  int64_t count = 0;
  std::string next = {};
  std::string error = {};  // empty: none
};

std::string in_partition(std::string document) {
  return document.insert(1, R"("pk":"p",)");
}

// In scripts what FROM begins with is the container or the row's; another is joined. Its alias has one
// letter.
std::string for_script(std::string text) {
  constexpr std::string_view kFrom = " FROM d ", kOne = "FROM (SELECT 1 AS one) only JOIN d ";
  for (size_t at = 0; (at = text.find(kFrom, at)) != std::string::npos;) {
    text.insert(at + kFrom.size() + 1, " ON true");
    text.replace(at + 1, kFrom.size() - 1, kOne);
  }
  return text;
}

// `text` within JSON, which neither control characters nor anything else of the generator's need more for.
std::string escaped(std::string_view text) {
  std::string json;
  for (const char c : text) json += c == '"' || c == '\\' ? fmt::format("\\{}", c) : std::string(1, c);
  return json;
}

std::string between(std::string_view text, std::string_view from, std::string_view to) {
  const size_t first = text.find(from) + from.size();
  return std::string(text.substr(first, text.find(to, first) - first));
}

}  // namespace

struct PageChecker::Shelf {
  Database database = std::move(Database::open(":memory:").value());

  void fill(const Case& made, std::string_view definition) {
    (void)database.drop_container("d");
    (void)database.create_container(definition);
    auto container = database.container("d").value();
    (void)container.create_script(ScriptKind::procedure, "page", kPage);
    for (const auto* documents : {&made.first, &made.second})
      for (const std::string& document : *documents) (void)container.upsert(in_partition(document));
    for (int i = 0; i < 12; ++i)
      (void)container.upsert(
          fmt::format(R"({{"id":"f{0}","pk":"p","k":"{1}","a":{0},"n":{1},"list":[{1},"x"]}})", i, i % 5));
  }

  Page page(const std::string& query, int64_t size, const std::string& continuation) {
    auto container = database.container("d").value();
    const auto result =
        container.execute("page", "p", fmt::format(R"([{}, {}, "{}"])", query, size, continuation));
    Page page;
    if (!result) {
      page.error = result.error().message;
      return page;
    }
    page.count = std::stoll(between(result->body, R"({"count":)", ","));
    page.next = between(result->body, R"("next":")", kRows);
    const size_t rows = result->body.find(kRows) + kRows.size();
    page.rows = result->body.substr(rows, result->body.size() - 2 - rows);
    return page;
  }

  // All pages, one after the other.
  Page pages(const std::string& query, Choices& choices, int64_t most, uint64_t& turns) {
    Page all;
    do {
      const int64_t size = 1 + choices.pick(5);
      const Page next = page(query, size, all.next);
      ++turns;
      if (!next.error.empty() || next.count > size || all.count + next.count > most)
        return {.rows = all.rows,
                .error = fmt::format("a page of {} behind '{}' has {} rows: {} {}", size, all.next,
                                     next.count, next.rows, next.error)};
      all.rows += (all.count == 0 || next.count == 0 ? "" : ",") + next.rows;
      all.count += next.count;
      all.next = next.next;
    } while (!all.next.empty());
    return all;
  }
};

PageChecker::PageChecker() : shelf_(std::make_unique<Shelf>()) {}
PageChecker::~PageChecker() = default;

std::optional<std::string> PageChecker::check(uint64_t seed) {
  Choices choices(seed);
  const Case made = make_case(choices);
  const std::string_view definition = choices.one_of(kDefinitions);
  shelf_->fill(made, definition);
  std::string parameters;
  for (const Parameter& parameter : made.parameters)
    parameters += fmt::format(R"({}{{"name":"@{}","value":{}}})", parameters.empty() ? "" : ",",
                              parameter.name, parameter.json);
  for (const std::string& text :
       {made.query, "SELECT VALUE c.id" + made.from + " WHERE " + made.predicate,
        "SELECT VALUE c.id FROM c WHERE " + made.predicate,
        "SELECT VALUE c.id FROM c WHERE " + made.predicate + " ORDER BY c.n, c.id"}) {
    const std::string query =
        fmt::format(R"({{"query":"{}","parameters":[{}]}})", escaped(for_script(text)), parameters);
    const Page whole = shelf_->page(query, -1, "");
    if (!whole.error.empty() || !whole.next.empty()) continue;
    uint64_t turns = 0;
    const Page pages = shelf_->pages(query, choices, whole.count, turns);
    ++run_;
    paged_ += turns > 1 ? 1 : 0;
    if (pages.error.empty() && pages.rows == whole.rows) continue;
    return fmt::format("seed {}\ncontainer {}\n{}\n{}\n{}\nat once\n{}\nin pages\n{}\n{}\n", seed, definition,
                       fmt::join(made.first, "\n"), fmt::join(made.second, "\n"), query, whole.rows,
                       pages.rows, pages.error);
  }
  return std::nullopt;
}

}  // namespace quire::sql::oracle
