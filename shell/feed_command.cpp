// .feed: what has changed in a container, one line of JSON a change, and on request what changes from now on.
#include <fmt/format.h>

#include "shell/arguments.h"
#include "shell/commands.h"
#include "shell/interrupt.h"
#include "shell/messages.h"

namespace quire::shell {
namespace {

constexpr std::chrono::milliseconds kForEver{-1};

// Writes the changes that there are; false if the output takes no more.
Result<bool> write_changes(Session& session, Feed& feed) {
  session.output.begin();
  for (;;) {
    auto change = feed.next();
    const bool is_there = change && *change;
    auto json = is_there ? feed.json() : Result<std::string>(std::string());
    if (is_there && json) session.output.write(*json + '\n');
    if (is_there && json && !session.output.has_failed() && !is_interrupted()) continue;
    const bool is_written = session.output.finish();
    if (!change) return Failure(std::move(change.error()));
    if (!json) return Failure(std::move(json.error()));
    return is_written;
  }
}

// Goes on as changes come, until Ctrl-C.
Result<bool> follow(Session& session, Feed& feed) {
  for (;;) {
    auto change = feed.next(kForEver);
    if (!change && change.error().code == QUIRE_INTERRUPTED) return true;
    if (!change) return Failure(std::move(change.error()));
    auto json = feed.json();
    if (!json) return Failure(std::move(json.error()));
    session.output.begin();
    session.output.write(*json + '\n');
    // Each is seen when it comes, also through a pipe.
    if (!session.output.finish()) return false;
    if (is_interrupted()) return true;
  }
}

FeedOptions options_of(const ParsedArguments& arguments) {
  FeedOptions options;
  if (arguments.has("all-versions")) options.mode = FeedMode::all_versions;
  if (arguments.has("now")) options.start = FeedStart::now();
  for (std::string& token : arguments.values("token")) options.start = FeedStart::token(std::move(token));
  return options;
}

}  // namespace

Outcome feed_command(Session& session, const Words& words) {
  const auto arguments = parse_arguments(words, {"token"}, {"follow", "all-versions", "now"});
  if (!arguments) return wrong_usage(".feed", arguments.error());
  if (arguments->positional.empty()) return wrong_usage(".feed", "name the container");
  if (arguments->positional.size() > 1)
    return wrong_usage(".feed", fmt::format("'{}' is too much", arguments->positional[1]));
  if (arguments->has("now") && arguments->has("token"))
    return wrong_usage(".feed", "--now and --token are two places to begin; leave one out");
  auto container = session.database().container(arguments->positional[0]);
  if (!container) return failed(container.error());
  auto feed = container->feed(options_of(*arguments));
  if (!feed) return failed(feed.error());

  const Interruptible interruptible(session.database());
  auto written = write_changes(session, *feed);
  if (written && *written && arguments->has("follow") && !is_interrupted()) written = follow(session, *feed);
  if (!written) return failed(written.error());
  if (!*written) return cannot_write_output(session.output);
  const auto token = feed->token();
  if (!token) return failed(token.error());
  tell("the feed goes on with --token {}\n", *token);
  return Outcome::done;
}

}  // namespace quire::shell
