// The words of statements about scripts, in one place for reading and printing.
#pragma once

#include <string>
#include <string_view>

#include "sql/parse/ast.h"

namespace quire::sql {

struct ScriptKindWord {
  std::string_view word;
  ScriptKind kind;
};
inline constexpr ScriptKindWord kScriptKindWords[] = {{"PROCEDURE", ScriptKind::procedure},
                                                      {"FUNCTION", ScriptKind::function},
                                                      {"TRIGGER", ScriptKind::trigger}};
struct TriggerTimeWord {
  std::string_view word;
  TriggerTime time;
};
inline constexpr TriggerTimeWord kTriggerTimeWords[] = {{"PRE", TriggerTime::pre},
                                                        {"POST", TriggerTime::post}};
struct TriggerOperationWord {
  std::string_view word;
  TriggerOperation operation;
};
inline constexpr TriggerOperationWord kTriggerOperationWords[] = {{"ALL", TriggerOperation::all},
                                                                  {"CREATE", TriggerOperation::create},
                                                                  {"REPLACE", TriggerOperation::replace},
                                                                  {"UPDATE", TriggerOperation::update},
                                                                  {"DELETE", TriggerOperation::remove}};

// CREATE or DROP, as it was written.
std::string print_script(StatementKind kind, const ScriptChange& script);

}  // namespace quire::sql
