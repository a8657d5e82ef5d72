// What is told of arguments that no procedure can be called with, be it JavaScript or native.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "sql/error.h"

namespace quire::engine {

// `title`: "procedure 'p'". The place stays that in the text of the arguments.
inline std::unexpected<Error> unreadable_arguments(std::string_view title, Error reason) {
  reason.message = "the arguments of " + std::string(title) + ": " + reason.message;
  return std::unexpected(std::move(reason));
}

inline std::unexpected<Error> no_list_of_arguments(std::string_view title) {
  return fail(ErrorCode::invalid_argument,
              "the arguments of " + std::string(title) + " must be a JSON array: [1, \"x\"]");
}

}  // namespace quire::engine
