// A user-defined function at work in one execution of a query.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "engine/query/script_limits.h"
#include "engine/script/script_store.h"
#include "sql/source.h"

namespace quire::engine {

// `image`: the function's, which is shared with other calls of it. The limits hold for each batch of calls.
std::unique_ptr<sql::UserFunction> make_user_function(ScriptStore::Loan sandbox,
                                                      std::shared_ptr<const SandboxImage> image,
                                                      std::string title, const ScriptLimits& limits,
                                                      const std::atomic<uint64_t>* interrupts);

}  // namespace quire::engine
