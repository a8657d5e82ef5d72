// Words that full-text search passes over.
#pragma once

#include <string_view>

namespace quire::sql {

// Of English text, in lower case; those that Azure Cosmos DB documents for en-US. It has none for other
// languages.
bool is_english_stop_word(std::string_view lower) noexcept;

}  // namespace quire::sql
