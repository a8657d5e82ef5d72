#include "engine/script/script_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <span>

namespace quire::engine {
namespace {

constexpr size_t kMostIdle = 8;
// An image takes about half a megabyte.
constexpr size_t kMostReady = 64;
// Calls of a script that take different ways through it.
constexpr uint32_t kCallsToWatch = 4;

bool is_name_part(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// The name of the first function that is declared at the beginning of a line; empty if there is none.
std::string first_function(std::string_view text) {
  constexpr std::string_view kWord = "function";
  for (size_t at = text.find(kWord); at != std::string_view::npos; at = text.find(kWord, at + 1)) {
    if (at != 0 && is_name_part(text[at - 1])) continue;
    size_t begin = at + kWord.size();
    while (begin < text.size() &&
           (std::isspace(static_cast<unsigned char>(text[begin])) != 0 || text[begin] == '*'))
      ++begin;
    size_t end = begin;
    while (end < text.size() && is_name_part(text[end])) ++end;
    if (end > begin && begin > at + kWord.size()) return std::string(text.substr(begin, end - begin));
  }
  return "";
}

// The place of a fault of a text that was read behind an opening parenthesis; the message ends in its column.
void take_parenthesis_off(Error& fault) {
  if (fault.position.line != 1 || fault.position.column < 2) return;
  const std::string end = fmt::format(":{}", fault.position.column);
  --fault.position.column;
  if (fault.message.ends_with(end))
    fault.message.replace(fault.message.size() - end.size(), end.size(),
                          fmt::format(":{}", fault.position.column));
}

// Why a text is no expression, where take_fault_of_text() has told `fault` of it in parentheses, of which the
// closing one stood on a line of its own; nothing where it is one with something behind it.
std::optional<Error> fault_of_expression(Sandbox& sandbox, const ScriptDefinition& script,
                                         std::string_view text, Error fault) {
  if (fault.position.line > 1 + std::ranges::count(text, '\n')) {
    const JsValue unclosed = sandbox.evaluate("(" + std::string(text), script.name);
    if (!Sandbox::is_exception(unclosed)) {
      sandbox.free(unclosed);
      return std::nullopt;
    }
    fault = sandbox.take_fault_of_text(script_title(script));
    if (fault.code != ErrorCode::syntax) return std::nullopt;
  }
  take_parenthesis_off(fault);
  return fault;
}

// Functions as an expression or a program gave them; invalid_definition for one that cannot be called as a
// script is.
Result<JsValue> fit_function(Sandbox& sandbox, const ScriptDefinition& script, JsValue function) {
  const JsValue given[] = {function};
  const JsValue kind = sandbox.call(sandbox.library().unfit_kind, kJsUndefined, given);
  if (Sandbox::is_undefined(kind)) return function;
  std::string text;
  if (Sandbox::is_exception(kind) || !sandbox.text(kind, text))
    return std::unexpected(sandbox.take_exception(script_title(script)));
  return fail(
      ErrorCode::invalid_definition,
      fmt::format("{} is {}: its text must be a function that can be called, as in function (x) {{ ... "
                  "}} or async function (x) {{ ... }}",
                  script_title(script), text));
}

}  // namespace

std::string script_title(const ScriptDefinition& script) {
  return fmt::format("{} '{}'", script_kind_name(script.kind), script.name);
}

ScriptStore::Loan::~Loan() {
  if (sandbox_ == nullptr) return;
  const std::lock_guard lock(store_->mutex_);
  if (store_->idle_.size() < kMostIdle) store_->idle_.push_back(std::move(sandbox_));
}

Result<ScriptStore::Loan> ScriptStore::lend() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      Loan loan(*this, std::move(idle_.back()));
      idle_.pop_back();
      return loan;
    }
  }
  QUIRE_ASSIGN(auto sandbox, Sandbox::make(watchdog_));
  return Loan(*this, std::move(sandbox));
}

Result<std::shared_ptr<const SandboxImage>> ScriptStore::booted() {
  const std::lock_guard booting(boot_mutex_);
  {
    const std::lock_guard lock(mutex_);
    if (booted_ != nullptr) return booted_;
  }
  QUIRE_ASSIGN(auto sandbox, Sandbox::boot(watchdog_));
  auto image = std::make_shared<const SandboxImage>(sandbox->image());
  const std::lock_guard lock(mutex_);
  booted_ = image;
  idle_.push_back(std::move(sandbox));
  return image;
}

// A script is one function, as an expression: that gives anonymous functions and arrows as well. Where that
// is no JavaScript it is a program that declares functions; then the one of the script's own name counts, or
// the first. Of a text that is neither, the fault is the one that lies further in it.
Result<JsValue> ScriptStore::load(Sandbox& sandbox, const ScriptDefinition& script) {
  const std::string text = script.body.substr(0, script.body.find_last_not_of("; \t\r\n") + 1);
  const JsValue expression = sandbox.evaluate("(" + text + "\n)", script.name);
  std::optional<Error> fault;
  if (!Sandbox::is_exception(expression)) {
    if (sandbox.is_function(expression)) return fit_function(sandbox, script, expression);
    sandbox.free(expression);
  } else {
    fault = sandbox.take_fault_of_text(script_title(script));
    if (fault->code != ErrorCode::syntax) return std::unexpected(std::move(*fault));
    fault = fault_of_expression(sandbox, script, text, std::move(*fault));
  }
  const JsValue program = sandbox.evaluate(script.body, script.name);
  if (Sandbox::is_exception(program)) {
    Error error = sandbox.take_fault_of_text(script_title(script));
    const auto place = [](const Error& each) { return std::pair(each.position.line, each.position.column); };
    const bool is_further = error.code == ErrorCode::syntax && fault && place(*fault) > place(error);
    return std::unexpected(is_further ? std::move(*fault) : std::move(error));
  }
  sandbox.free(program);
  for (const std::string& name : {script.name, first_function(script.body)}) {
    if (name.empty() || !std::ranges::all_of(name, is_name_part)) continue;
    // A name that means nothing, or is none, is no function.
    const JsValue function = sandbox.evaluate(name, script.name);
    if (Sandbox::is_exception(function))
      (void)sandbox.take_exception(script_title(script));
    else if (sandbox.is_function(function))
      return fit_function(sandbox, script, function);
    else
      sandbox.free(function);
  }
  return fail(ErrorCode::invalid_definition,
              fmt::format("{} has no function: its text must be one, as in function (x) {{ ... }}",
                          script_title(script)));
}

Result<ScriptStore::Script> ScriptStore::script(const ScriptDefinition& definition,
                                                const ScriptLimits& limits) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find_if(ready_, [&](const Ready& ready) {
      return ready.kind == definition.kind && ready.name == definition.name && ready.body == definition.body;
    });
    if (found != ready_.end()) {
      ready_.splice(ready_.begin(), ready_, found);
      const bool is_watched = found->calls_to_watch > 0;
      if (is_watched) --found->calls_to_watch;
      return Script{found->image, is_watched};
    }
  }
  QUIRE_ASSIGN(const auto empty, booted());
  QUIRE_ASSIGN(const Loan sandbox, lend());
  QUIRE_TRY(sandbox->restore(*empty, limits.memory_bytes));
  Sandbox::RunOptions options;
  options.limits = limits;
  std::shared_ptr<const SandboxImage> image;
  QUIRE_TRY(sandbox->run(options, script_title(definition), [&]() -> Result<void> {
    QUIRE_ASSIGN(const JsValue function, load(*sandbox, definition));
    if (!sandbox->documents().learn_names(definition.body))
      return std::unexpected(sandbox->take_exception(script_title(definition)));
    image = std::make_shared<const SandboxImage>(sandbox->image(function));
    return {};
  }));
  const std::lock_guard lock(mutex_);
  ready_.push_front({definition.kind, definition.name, definition.body, image, kCallsToWatch});
  if (ready_.size() > kMostReady) ready_.pop_back();
  return Script{std::move(image), true};
}

void ScriptStore::learn(const Script& script, const ObjectForms& forms, Sandbox& sandbox,
                        const ScriptLimits& limits) {
  const SandboxImage& before = *script.image;
  const auto unknown = std::span(forms.all()).subspan(before.forms.all().size());
  if (unknown.empty()) return;
  if (!sandbox.restore(before, limits.memory_bytes)) return;
  Sandbox::RunOptions options;
  options.limits = limits;
  std::shared_ptr<SandboxImage> image;
  const auto done = sandbox.run(options, "a script", [&]() -> Result<void> {
    if (!sandbox.documents().learn_forms(unknown)) return std::unexpected(sandbox.take_exception("a script"));
    image = std::make_shared<SandboxImage>(sandbox.image(before.function));
    image->forms = forms;
    return {};
  });
  if (!done) return;
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(ready_, script.image, &Ready::image);
  if (found != ready_.end()) found->image = std::move(image);
}

}  // namespace quire::engine
