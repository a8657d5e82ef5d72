// A user-defined function at work in one execution of a query.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "engine/query/script_limits.h"
#include "engine/script/script_store.h"
#include "sql/source.h"

namespace quire::engine {

// `sandbox` has the function's image. The limits hold for each batch of calls.
std::unique_ptr<sql::UserFunction> make_user_function(ScriptStore::Loan sandbox, std::string title,
                                                      const ScriptLimits& limits,
                                                      const std::atomic<uint64_t>* interrupts);

}  // namespace quire::engine
