#include "shell/file_format.h"

#include <algorithm>

namespace quire::shell {

std::optional<Format> find_format(std::string_view name) {
  if (name == "jsonl" || name == "ndjson") return Format::json_lines;
  if (name == "json") return Format::json_array;
  if (name == "csv") return Format::csv;
  if (name == "tsv") return Format::tsv;
  return std::nullopt;
}

std::optional<Format> format_of_file(std::string_view path) {
  for (const std::string_view packed : {".gz", ".zst"})
    if (path.ends_with(packed)) path.remove_suffix(packed.size());
  const size_t dot = path.rfind('.');
  if (dot == std::string_view::npos) return Format::json_lines;
  return find_format(path.substr(dot + 1)).value_or(Format::json_lines);
}

bool is_packed_otherwise(std::string_view path) {
  constexpr std::string_view kEndings[] = {".bz2", ".xz", ".zip", ".lz4", ".br", ".7z"};
  return std::ranges::any_of(kEndings, [&](std::string_view ending) { return path.ends_with(ending); });
}

}  // namespace quire::shell
