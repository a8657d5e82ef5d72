// quire-faults: the database while memory runs out, and while calls of the system fail.
#include <CLI/CLI.hpp>

#include "tests/faults/fault_runs.h"

int main(int argc, char** argv) {
  quire::tests::FaultPlan plan;
  CLI::App app(
      "A work of every kind with a fault at each place in turn: a clean error, and nothing lost or half "
      "done");
  CLI::App* const memory = app.add_subcommand("memory", "requests for memory fail");
  CLI::App* const calls = app.add_subcommand("calls", "calls of the system fail");
  for (CLI::App* const kind : {memory, calls}) {
    kind->add_option("--runs", plan.runs, "so many, their places evenly spread (every place)");
    kind->add_option("--first", plan.first, "the first place (1)");
    kind->add_option("--last", plan.last, "the last place (of all)");
  }
  app.require_subcommand(1);
  CLI11_PARSE(app, argc, argv);
  const bool is_right =
      memory->parsed() ? quire::tests::survive_memory_faults(plan) : quire::tests::survive_call_faults(plan);
  return is_right ? 0 : 1;
}
