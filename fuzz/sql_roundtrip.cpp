// Any text to the parser: it never crashes, and what it takes prints to a text that it takes again and that
// prints the same. What strict mode takes, the other mode takes with the same meaning.
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/require.h"
#include "sql/parse/ast.h"

namespace {

using quire::fuzz::require;
using quire::sql::parse;
using quire::sql::print;

// The printed form of `text`, or nothing if it is no statement.
std::string round_trip(std::string_view text, bool strict) {
  const auto first = parse(text, strict);
  if (!first) {
    require(!first.error().message.empty());
    return {};
  }
  const std::string printed = print((*first)->statement);
  require(!outline((*first)->statement).empty());
  // Printing spells some things out (quotes around keys), so it may pass the bound on a text's length.
  if (printed.size() > quire::sql::kMostQueryText) return printed;
  const auto second = parse(printed, strict);
  require(second.has_value());
  require(print((*second)->statement) == printed);
  return printed;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string relaxed = round_trip(text, false);
  const std::string strict = round_trip(text, true);
  require(strict.empty() || strict == relaxed);
  return 0;
}
