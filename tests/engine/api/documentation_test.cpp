// The examples of pages of docs/, run one after the other on one database.
#include <fstream>
#include <utility>
#include <vector>

#include "tests/engine/api/database_fixture.h"

namespace quire::tests {
namespace {

struct Example {
  std::string statement;
  std::string rows;   // a line each
  std::string error;  // its name
  size_t line = 0;
};

// ```sql blocks; examples have an empty line between them.
std::vector<Example> read_examples(const std::string& path) {
  std::vector<Example> examples;
  std::ifstream page(path);
  EXPECT_TRUE(page.is_open()) << path;
  bool is_in_block = false, is_new = true;
  size_t number = 0;
  for (std::string line; std::getline(page, line);) {
    ++number;
    if (line.starts_with("```")) {
      is_in_block = line == "```sql";
      is_new = true;
      continue;
    }
    if (!is_in_block || line.empty()) {
      is_new = true;
      continue;
    }
    if (std::exchange(is_new, false)) examples.emplace_back().line = number;
    Example& example = examples.back();
    if (line.starts_with("-- error: "))
      example.error = line.substr(10);
    else if (line.starts_with("-- "))
      example.rows += line.substr(3) + '\n';
    else
      example.statement += line + '\n';
  }
  return examples;
}

class DocumentationTest : public DatabaseTest {
 protected:
  void run_page(const std::string& page) {
    reopen(file("examples.quire"));
    const std::vector<Example> examples = read_examples(QUIRE_DOCS "/" + page);
    EXPECT_GT(examples.size(), 20u);
    for (const Example& example : examples) {
      SCOPED_TRACE("docs/" + page + ":" + std::to_string(example.line));
      const std::string given = query(example.statement);
      if (example.error.empty())
        EXPECT_EQ(given, example.rows);
      else
        EXPECT_TRUE(given.starts_with(example.error + ":")) << given;
    }
  }
};

TEST_F(DocumentationTest, ExamplesOfStatementsGiveWhatThePageSays) {
  run_page("statements.md");
}

#if QUIRE_HAS_SCRIPTS
TEST_F(DocumentationTest, ExamplesOfScriptsGiveWhatThePageSays) {
  run_page("scripts.md");
}
#endif

}  // namespace
}  // namespace quire::tests
