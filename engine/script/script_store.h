// Scripts made ready: each is read and its top level run once, in an engine of its own, whose memory is kept
// as the image that every call begins with. Engines themselves are lent out and used again.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "engine/catalog/script_catalog.h"
#include "engine/query/script_limits.h"
#include "engine/script/sandbox.h"
#include "engine/script/watchdog.h"
#include "sql/error.h"

namespace quire::engine {

// "procedure 'publishBook'", for messages.
std::string script_title(const ScriptDefinition& script);

// Thread-safe.
class ScriptStore {
 public:
  // An engine on loan; goes back when it is destroyed.
  class Loan {
   public:
    Loan(ScriptStore& store, std::unique_ptr<Sandbox> sandbox)
        : store_(&store), sandbox_(std::move(sandbox)) {}
    ~Loan();
    Loan(Loan&& other) noexcept = default;
    Loan& operator=(Loan&&) = delete;
    Sandbox& operator*() const noexcept { return *sandbox_; }
    Sandbox* operator->() const noexcept { return sandbox_.get(); }

   private:
    ScriptStore* store_;
    std::unique_ptr<Sandbox> sandbox_;
  };
  Result<Loan> lend();

  struct Script {
    std::shared_ptr<const SandboxImage> image;  // whose function is the script's
    bool is_watched = false;                    // one of the first few calls, for learn()
  };
  // syntax with its line, script_failed, and the limits' errors; invalid_definition if the text has no
  // function.
  Result<Script> script(const ScriptDefinition& definition, const ScriptLimits& limits);
  // A call of the script has used these forms, beside those of its image: the next ones begin with all of
  // them. Where memory or time is too short for that, they begin as before. `sandbox`: any, to be restored.
  void learn(const Script& script, const ObjectForms& forms, Sandbox& sandbox, const ScriptLimits& limits);

 private:
  struct Ready {
    sql::ScriptKind kind;
    std::string name;
    std::string body;
    std::shared_ptr<const SandboxImage> image;  // shared with the calls that run from it
    uint32_t calls_to_watch;
  };

  Result<std::shared_ptr<const SandboxImage>> booted();
  Result<JsValue> load(Sandbox& sandbox, const ScriptDefinition& script);

  Watchdog watchdog_;
  std::mutex boot_mutex_;  // held while the first engine boots
  std::mutex mutex_;       // guards all below
  std::shared_ptr<const SandboxImage> booted_;
  std::vector<std::unique_ptr<Sandbox>> idle_;
  std::list<Ready> ready_;  // the last used one first
};

}  // namespace quire::engine
