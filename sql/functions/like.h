// LIKE patterns, compiled once to the cheapest matcher that serves (equality, prefix, suffix, substring,
// re2).
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "sql/error.h"

namespace quire::sql {

// What every text begins with that a pattern without an escape matches.
std::string_view text_before_wildcards(std::string_view pattern) noexcept;

class LikePattern {
 public:
  // `escape`: one code point, as UTF-8, or nothing. An unclosed bracket stands for itself.
  static Result<std::unique_ptr<LikePattern>> compile(std::string_view pattern,
                                                      std::optional<std::string_view> escape);
  virtual ~LikePattern() = default;
  // Whole-string, case-sensitive match. Thread-safe.
  virtual bool matches(std::string_view text) const noexcept = 0;
};

}  // namespace quire::sql
