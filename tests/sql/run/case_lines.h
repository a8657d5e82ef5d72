// The lines of the cases of the language, out of *.test files and out of the examples of documentation pages.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace quire::sql {

struct CaseLine {
  std::string text;
  size_t number;  // in the file, from 1
};

// A *.test file's lines as they are. A page's (*.md) become lines of the same syntax; what counts in a page:
//
//   ```json people /city     documents, one a line, of a container with its partition key paths
//   ```sql                   examples, with an empty line between them: a query, then each row after `-- `;
//                            `-- no rows`, or `-- error: code`. Before the query: `-- @name = JSON`.
//   ```sql strict            in strict mode; `in people`: on that container instead of the database
//   `ABS(-3)` → `3`          in a line of text or of a table: the expression has this value
std::vector<CaseLine> read_case_lines(const std::filesystem::path& path);

}  // namespace quire::sql
