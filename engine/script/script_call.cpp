#include "engine/script/script_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "engine/script/host_function.h"
#include "engine/script/script_arguments.h"
#include "sql/value/json.h"

namespace quire::engine {
namespace {

// So often may a script be told that a call is not accepted before it is ended.
constexpr uint32_t kMostRefusals = 1000;

// Failures after which a transaction can only be undone, whatever the script would do about them. A container
// that is not there is one where it is the script's own; one that a query names has a place in its text.
bool is_of_storage(const Error& error) {
  const bool is_named = error.position.line != 0;
  return error.code >= ErrorCode::not_a_database || error.code == ErrorCode::interrupted ||
         error.code == ErrorCode::transaction_too_large ||
         (error.code == ErrorCode::container_not_found && !is_named);
}

}  // namespace

JsValue ScriptCallHost::call(uint32_t function, std::span<const JsValue> arguments) {
  switch (static_cast<HostFunction>(function)) {
    case HostFunction::accept:
      return accept();
    case HostFunction::log:
      return log(arguments);
    case HostFunction::random:
      return sandbox_.new_number(sandbox_.random());
    case HostFunction::abort: {
      std::string reason;
      if (!arguments.empty()) sandbox_.readable_text(arguments[0], reason);
      if (!failure_) failure_ = Error{ErrorCode::script_failed, "aborted: " + shortened(reason, 500), {}};
      sandbox_.breach(Breach::aborted);
      return sandbox_.throw_error(reason, 0, false);
    }
    case HostFunction::collection:
    case HostFunction::read:
    case HostFunction::create:
    case HostFunction::upsert:
    case HostFunction::replace:
    case HostFunction::patch:
    case HostFunction::remove:
    case HostFunction::feed:
      return access_items(function, arguments);
  }
  return sandbox_.throw_error("there is no such function of the host");
}

JsValue ScriptCallHost::accept() {
  if (operations_ < sandbox_.limits().operations && !sandbox_.is_time_short()) {
    ++operations_;
    return Sandbox::new_boolean(true);
  }
  if (++refusals_ < kMostRefusals) return Sandbox::new_boolean(false);
  sandbox_.breach(Breach::operations);
  return sandbox_.throw_error("calls are not accepted any more", 429, false);
}

JsValue ScriptCallHost::log(std::span<const JsValue> arguments) {
  std::string line;
  if (!arguments.empty() && !sandbox_.readable_text(arguments[0], line)) return kJsException;
  log_.add(line, sandbox_.limits().log_bytes);
  return kJsUndefined;
}

// An error that the script gets, or, where nothing can be saved, the end of the run.
JsValue ScriptCallHost::refuse(const Error& error) {
  const bool is_fatal = is_of_storage(error);
  if (is_fatal && !failure_) failure_ = error;
  return sandbox_.throw_error(error.message, error.status(), !is_fatal);
}

JsValue ScriptCallHost::access_items(uint32_t function, std::span<const JsValue> arguments) {
  if (access_ == nullptr) return sandbox_.throw_error("there is no collection here", 400);
  auto result = work_on_items(static_cast<HostFunction>(function), arguments);
  return result ? *result : refuse(result.error());
}

namespace {

bool is_true(std::span<const JsValue> arguments, size_t at) {
  return at < arguments.size() && arguments[at].bits == Sandbox::new_boolean(true).bits;
}

}  // namespace

// What is no string was made one by the library; false with an exception pending.
bool ScriptCallHost::take_text(std::span<const JsValue> arguments, size_t at, std::string& text) {
  return at >= arguments.size() || !Sandbox::is_string(arguments[at]) || sandbox_.text(arguments[at], text);
}

// Nothing with an exception pending.
std::optional<sql::Value> ScriptCallHost::take_document(JsValue value) {
  if (const auto plain = sandbox_.documents().from_script(value, arena_)) return plain;
  std::string text;
  if (!sandbox_.json(value, text)) return std::nullopt;
  if (text.empty()) {
    sandbox_.throw_error("the document is no JSON value", 400);
    return std::nullopt;
  }
  const auto read = read_json(text);
  if (read) return *read;
  refuse(read.error());
  return std::nullopt;
}

// The sandbox keeps its reader, which has 64 KB for the shortest of texts, from call to call. Of a long text
// a reader has several times its bytes, and goes with it.
Result<sql::Value> ScriptCallHost::read_json(std::string_view json) {
  constexpr size_t kMostForKept = size_t{256} << 10;
  if (json.size() > kMostForKept) return sql::JsonReader().to_value(json, arena_);
  return sandbox_.reader().to_value(json, arena_);
}

JsValue ScriptCallHost::give(const Item& item) {
  return sandbox_.documents().to_script(access_->whole(item, arena_));
}

// Arguments are as library.js gives them.
Result<JsValue> ScriptCallHost::work_on_items(HostFunction function, std::span<const JsValue> arguments) {
  const sql::ArenaScope scope(arena_);  // a call may lie within another: in a toJSON of its arguments
  std::string first, last;
  switch (function) {
    case HostFunction::create:
    case HostFunction::upsert:
      return arguments.size() == 1 ? write_if_accepted(function, arguments) : write(function, arguments);
    case HostFunction::replace:
    case HostFunction::patch:
      return arguments.size() == 2 ? write_if_accepted(function, arguments) : change(function, arguments);
    case HostFunction::read:
      return read(arguments);
    case HostFunction::collection:
      if (!take_text(arguments, 0, first)) return kJsException;
      QUIRE_TRY(access_->check_collection_link(first));
      return kJsUndefined;
    case HostFunction::remove: {
      if (!take_text(arguments, 0, first) || !take_text(arguments, 1, last)) return kJsException;
      QUIRE_ASSIGN(const std::string id, access_->id_of_link(first));
      QUIRE_TRY(access_->remove(id, last));
      return kJsUndefined;
    }
    case HostFunction::feed:
      return feed(arguments);
    default:
      return kJsUndefined;
  }
}

// The document, or the link and the document: a call of the script's that comes as it is. Whether it was
// accepted.
Result<JsValue> ScriptCallHost::write_if_accepted(HostFunction function, std::span<const JsValue> arguments) {
  const JsValue is_accepted = accept();
  if (is_accepted.bits != Sandbox::new_boolean(true).bits) return is_accepted;
  QUIRE_ASSIGN(const JsValue done,
               arguments.size() == 1 ? write(function, arguments) : change(function, arguments));
  return Sandbox::is_exception(done) ? done : is_accepted;
}

// The document, whether it must have an id, whether the item is wanted, of an upsert an etag. An item that an
// upsert gives comes with whether it was made.
Result<JsValue> ScriptCallHost::write(HostFunction function, std::span<const JsValue> arguments) {
  if (arguments.empty()) return kJsUndefined;
  const auto document = take_document(arguments[0]);
  std::string etag;
  if (!document || !take_text(arguments, 3, etag)) return kJsException;
  const auto kind =
      function == HostFunction::create ? PartitionAccess::Write::create : PartitionAccess::Write::upsert;
  QUIRE_ASSIGN(const ItemOutcome outcome, access_->write(kind, *document, etag, is_true(arguments, 1)));
  if (!is_true(arguments, 2)) return kJsUndefined;
  const JsValue item = give(outcome.item);
  if (function == HostFunction::create || Sandbox::is_exception(item)) return item;
  const JsValue item_and_created[] = {item, Sandbox::new_boolean(outcome.created)};
  return sandbox_.new_array(item_and_created);
}

// A link, the document or the operations of a patch, an etag, whether the item is wanted.
Result<JsValue> ScriptCallHost::change(HostFunction function, std::span<const JsValue> arguments) {
  std::string link, etag;
  if (arguments.size() < 2) return kJsUndefined;
  if (!take_text(arguments, 0, link) || !take_text(arguments, 2, etag)) return kJsException;
  const auto body = take_document(arguments[1]);
  if (!body) return kJsException;
  QUIRE_ASSIGN(const std::string id, access_->id_of_link(link));
  QUIRE_ASSIGN(const Item item, function == HostFunction::patch ? access_->patch(id, *body, etag, arena_)
                                                                : access_->replace(id, *body, etag));
  return is_true(arguments, 3) ? give(item) : kJsUndefined;
}

// A link, an etag.
Result<JsValue> ScriptCallHost::read(std::span<const JsValue> arguments) {
  std::string link, if_none_match;
  if (!take_text(arguments, 0, link) || !take_text(arguments, 1, if_none_match)) return kJsException;
  QUIRE_ASSIGN(const std::string id, access_->id_of_link(link));
  QUIRE_ASSIGN(const std::optional<Item> item, access_->read(id, if_none_match));
  return item ? give(*item) : kJsNull;
}

namespace {

// Rows as the engine's values, which it holds until they are part of another.
class ScriptRows final : public PageRows {
 public:
  explicit ScriptRows(Sandbox& sandbox) : sandbox_(sandbox) {}

  Result<void> add(const sql::Value& row) override {
    rows_.push_back(sandbox_.documents().to_script(row));
    if (Sandbox::is_exception(rows_.back()))
      return fail(ErrorCode::limit_exceeded, "the page takes more memory than a script may have");
    return {};
  }
  void clear() override {
    for (const JsValue row : rows_) sandbox_.free_counted(row);
    rows_.clear();
  }
  JsValue take() {
    const JsValue list = sandbox_.new_array(rows_);
    rows_.clear();
    return list;
  }

 private:
  Sandbox& sandbox_;
  std::vector<JsValue> rows_;
};

}  // namespace

// A query, or undefined for all items, the size of a page, a continuation; gives the rows and the next
// continuation.
Result<JsValue> ScriptCallHost::feed(std::span<const JsValue> arguments) {
  if (arguments.empty()) return kJsUndefined;
  const auto query = take_document(arguments[0]);
  std::string continuation;
  if (!query || !take_text(arguments, 2, continuation)) return kJsException;
  const double size = arguments.size() > 1 ? sandbox_.number(arguments[1]) : -1;
  ScriptRows rows(sandbox_);
  const auto next =
      access_->feed(*query, size >= 1 && size < 1e9 ? static_cast<int64_t>(size) : -1, continuation, rows);
  if (!next) {
    rows.clear();  // the script may go on
    return std::unexpected(next.error());
  }
  const JsValue page[] = {rows.take(), next->empty() ? kJsUndefined : sandbox_.new_string(*next)};
  return std::ranges::any_of(page, Sandbox::is_exception) ? kJsException : sandbox_.new_array(page);
}

// ---- Running

Result<void> ScriptCallHost::start(std::string_view name, const ScriptSettings& settings) {
  const auto given_or_undefined = [&](std::string_view text) {
    return text.empty() ? kJsUndefined : sandbox_.new_string(text);
  };
  const JsValue given[] = {
      sandbox_.new_string(settings.kind),
      sandbox_.new_string(settings.operation),
      given_or_undefined(settings.request),
      given_or_undefined(settings.response),
      given_or_undefined(access_ != nullptr ? access_->self_link() : std::string()),
      given_or_undefined(access_ != nullptr ? access_->alt_link() : std::string()),
      sandbox_.new_number(static_cast<double>(sandbox_.limits().result_bytes)),
  };
  if (std::ranges::any_of(given, Sandbox::is_exception))
    return std::unexpected(sandbox_.take_exception(name));
  const JsValue result = sandbox_.call(sandbox_.library().start, kJsUndefined, given);
  if (Sandbox::is_exception(result)) return std::unexpected(sandbox_.take_exception(name));
  for (const JsValue value : given) sandbox_.free_counted(value);
  return {};
}

// The arguments as JSON.parse makes them, which alone knows the texts that are no documents. A text that it
// does not know either is told of as everywhere else.
Result<JsValue> ScriptCallHost::take_arguments(std::string_view name, std::string_view json) {
  const sql::ArenaScope scope(arena_);
  const auto value = read_json(json);
  const JsValue list = value ? sandbox_.documents().to_script(*value) : sandbox_.parse_json(json);
  if (Sandbox::is_exception(list)) {
    Error error = sandbox_.take_fault_of_text(name);
    if (!value && error.code == ErrorCode::syntax) return unreadable_arguments(name, value.error());
    return std::unexpected(std::move(error));
  }
  const size_t start = json.find_first_not_of(" \t\r\n");
  if (value ? value->is_array() : json.substr(start).starts_with('[')) return list;
  return no_list_of_arguments(name);
}

Result<void> ScriptCallHost::run(std::string_view name, const ScriptSettings& settings,
                                 std::string_view arguments) {
  if (access_ != nullptr) access_->set_deadline(sandbox_.deadline());
  QUIRE_TRY(start(name, settings));
  QUIRE_ASSIGN(const JsValue list, take_arguments(name, arguments));
  const auto count = static_cast<uint32_t>(sandbox_.number(sandbox_.property(list, "length")));
  if (count > kMostScriptArguments)
    return fail(ErrorCode::limit_exceeded, fmt::format("{} was called with {} arguments; the most is {}",
                                                       name, count, kMostScriptArguments));
  std::vector<JsValue> given(count);
  for (uint32_t i = 0; i < count; ++i) given[i] = sandbox_.element(list, i);
  const JsValue result = sandbox_.call(sandbox_.function(), kJsUndefined, given);
  for (const JsValue value : given) sandbox_.free(value);
  sandbox_.free(list);
  if (Sandbox::is_exception(result)) return std::unexpected(sandbox_.take_exception(name));
  QUIRE_TRY(drain(name));
  // An async function's promise: what rejected it ends the call as an exception does, and was seen by
  // drain().
  if (sandbox_.promise_state(result) == Sandbox::PromiseState::pending)
    return fail(ErrorCode::script_failed,
                fmt::format("{} waits for a promise that nothing will settle", name));
  sandbox_.free(result);
  return {};
}

Result<void> ScriptCallHost::drain(std::string_view name) {
  for (;;) {
    if (!sandbox_.run_jobs()) return std::unexpected(sandbox_.take_exception(name));
    const JsValue did_run = sandbox_.call(sandbox_.library().step, kJsUndefined, {});
    if (Sandbox::is_exception(did_run)) return std::unexpected(sandbox_.take_exception(name));
    if (did_run.bits != Sandbox::new_boolean(true).bits) return {};
  }
}

Result<void> ScriptCallHost::take_body(std::string_view name, JsValue LibraryFunctions::* which,
                                       std::string& out) {
  const JsValue body = sandbox_.call(sandbox_.library().*which, kJsUndefined, {});
  if (Sandbox::is_exception(body)) return std::unexpected(sandbox_.take_exception(name));
  if (Sandbox::is_string(body) && !sandbox_.text(body, out)) {
    Error error = sandbox_.take_exception(name);
    error.code = ErrorCode::limit_exceeded;
    return std::unexpected(std::move(error));
  }
  sandbox_.free(body);
  return {};
}

}  // namespace quire::engine
