// The formats of files that .import reads and .export writes.
#pragma once

#include <optional>
#include <string_view>

namespace quire::shell {

enum class Format { json_lines, json_array, csv, tsv };

// "jsonl", "json", "csv", "tsv".
std::optional<Format> find_format(std::string_view name);
// By the ending of a file's name, without .gz or .zst; JSON lines where it says nothing.
std::optional<Format> format_of_file(std::string_view path);
// Whether the ending of a file's name promises that it is packed, but not by gzip or zstd.
bool is_packed_otherwise(std::string_view path);

}  // namespace quire::shell
