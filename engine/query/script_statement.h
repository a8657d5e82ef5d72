// Statements about scripts: CREATE and DROP PROCEDURE, FUNCTION, TRIGGER; EXECUTE.
#pragma once

#include <optional>
#include <span>

#include "engine/container/long_work.h"
#include "engine/query/open_containers.h"
#include "engine/query/session.h"
#include "sql/error.h"
#include "sql/parse/ast.h"

namespace quire::engine {

// CREATE, DROP; in the thread's transaction if it has one. The text of a script runs once before it is
// stored, within the time of the statement.
Result<void> change_scripts(OpenContainers& containers, Session& session, const sql::ScriptChange& change,
                            bool creates, const sql::TimeLimit& time_limit);
Result<void> create_script(OpenContainers& containers, Session& session, ContainerStore& store,
                           const ScriptDefinition& script, bool replaces,
                           const sql::TimeLimit& time_limit = {});
Result<void> drop_script(OpenContainers& containers, Session& session, ContainerStore& store,
                         sql::ScriptKind kind, std::string_view name);

// Whether all scripts of the file run here unasked; `trusts`: from now on they do, or none of them does,
// until it is stored or trusted again. invalid_argument on a machine without an id that files could know it
// by.
Result<bool> trust_scripts(OpenContainers& containers, Session& session, std::optional<bool> trusts);

// Runs a procedure: all of it happens, or nothing.
// `within`: the transaction to be part of; null: the thread's, or one of its own.
Result<void> execute_procedure(OpenContainers& containers, Session& session, const ProcedureCall& call,
                               WriteTransaction* within, ProcedureOutcome& outcome);
// EXECUTE, whose row is `given`: see sql::Execute.
Result<void> execute_statement(OpenContainers& containers, Session& session, const sql::Execute& statement,
                               const sql::Value& given, const WorkOptions& work, ProcedureOutcome& outcome);

}  // namespace quire::engine
