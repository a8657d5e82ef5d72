// quire-crash: a database after power cuts, and after kills.
#include <CLI/CLI.hpp>

#include "tests/crash/power_cuts.h"
#include "tests/crash/random_kills.h"

int main(int argc, char** argv) {
  quire::tests::PowerCutPlan cuts;
  quire::tests::KillPlan kills;
  CLI::App app(
      "What is left of a database after power cuts and kills: all that was acknowledged, and no half");
  CLI::App* const cut = app.add_subcommand("cuts", "one run on tape, and power cuts at each of its writes");
  cut->add_option("--steps", cuts.steps, "of each of three writers, in each part of the run (25)");
  cut->add_option("--looks", cuts.looks, "at so many of the states that are possible (all)");
  cut->add_option("--seed", cuts.seed, "of the random choices");
  CLI::App* const kill = app.add_subcommand("kills", "a run that is killed and goes on");
  kill->add_option("--kills", kills.kills, "how many (60)");
  kill->add_option("--seed", kills.seed, "of the random choices");
  app.require_subcommand(1);
  CLI11_PARSE(app, argc, argv);
  const bool is_right = cut->parsed() ? survive_power_cuts(cuts) : survive_random_kills(kills);
  return is_right ? 0 : 1;
}
