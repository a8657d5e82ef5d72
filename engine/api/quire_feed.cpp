// The change feed.
#include "engine/container/feed.h"

#include <chrono>
#include <limits>
#include <memory>

#include "engine/api/boundary.h"
#include "engine/api/handles.h"
#include "engine/api/request.h"
#include "quire/quire.h"

using quire::ErrorCode;
using quire::fail;
using quire::Result;
using quire::engine::Feed;
using quire::engine::FeedEntry;
using quire::engine::FeedMode;
using quire::engine::FeedOptions;
using quire::engine::FeedRowKind;
using quire::engine::FeedStart;
using quire::engine::guarded;
using quire::engine::null_argument;
using quire::engine::number_of;
using quire::engine::options_argument;
using quire::engine::PartitionKeyArgument;
using quire::engine::ScratchText;
using quire::engine::text_argument;

namespace {

static_assert(static_cast<int>(FeedMode::all_versions) == QUIRE_ALL_VERSIONS);
static_assert(static_cast<int>(FeedStart::now) == QUIRE_FROM_NOW);
static_assert(static_cast<int>(FeedStart::time) == QUIRE_FROM_TIME);
static_assert(static_cast<int>(FeedStart::token) == QUIRE_FROM_TOKEN);

// What the options say but for the partition key, which the caller keeps.
Result<FeedOptions> feed_options(const quire_feed_options& given) {
  FeedOptions options;
  if (number_of(given.mode) > QUIRE_ALL_VERSIONS)
    return fail(ErrorCode::invalid_argument, "the feed's mode is none of quire_feed_mode");
  if (number_of(given.start) > QUIRE_FROM_TOKEN)
    return fail(ErrorCode::invalid_argument, "the feed's start is none of quire_feed_start");
  options.mode = FeedMode{static_cast<uint8_t>(number_of(given.mode))};
  options.start = FeedStart{static_cast<uint8_t>(number_of(given.start))};
  if (options.start == FeedStart::time) {
    if (given.time < 0 || given.time > std::numeric_limits<uint32_t>::max())
      return fail(ErrorCode::invalid_argument, "the feed's start is not a time in Unix seconds");
    options.from_timestamp = static_cast<uint32_t>(given.time);
  }
  if (options.start == FeedStart::token) {
    QUIRE_ASSIGN(options.token, text_argument(given.token, given.token_length, "the feed's token"));
  }
  return options;
}

quire_operation operation_of(FeedRowKind kind) {
  switch (kind) {
    case FeedRowKind::created:
      return QUIRE_CREATED;
    case FeedRowKind::replaced:
      return QUIRE_REPLACED;
    case FeedRowKind::deleted:
    case FeedRowKind::expired:
      return QUIRE_DELETED;
    case FeedRowKind::item:
    case FeedRowKind::ordered_range:
    case FeedRowKind::unordered_range:
      break;
  }
  return QUIRE_WRITTEN;
}

double charge_of(const FeedEntry& entry) {
  const quire::sql::Value& item = entry.current.is_defined() ? entry.current : entry.previous;
  return quire::engine::feed_charge(quire::engine::json_bytes_of_document(item.encoded_bytes().size()));
}

Result<void> check_feed(const quire_feed* feed, const quire_buffer* out) {
  if (feed == nullptr) return null_argument("the feed");
  if (out == nullptr) return null_argument("the buffer");
  return {};
}

}  // namespace

extern "C" {

int quire_feed_open(quire_container* container, const quire_feed_options* given, quire_feed** feed,
                    quire_error* error) {
  return guarded(error, [&]() -> Result<void> {
    if (feed == nullptr) return null_argument("the place for the feed");
    *feed = nullptr;
    if (container == nullptr) return null_argument("the container");
    QUIRE_ASSIGN(const quire_feed_options known, options_argument(given));
    QUIRE_ASSIGN(const auto key, PartitionKeyArgument::read(known.partition_key, known.components));
    QUIRE_ASSIGN(FeedOptions options, feed_options(known));
    options.partition_key = key.components();
    options.interrupts = &container->database.interrupts();
    options.most_age = [session = &container->database.session()] { return session->reader_age(); };
    QUIRE_ASSIGN(auto opened, Feed::open(container->database.environment(), container->store, options));
    *feed = std::make_unique<quire_feed>(*container, std::move(opened)).release();
    return {};
  });
}

int quire_feed_next(quire_feed* feed, int64_t patience_ms, quire_change* change, quire_error* error) {
  bool has_entry = false;
  const int code = guarded(error, [&]() -> Result<void> {
    quire::engine::begin_request();
    if (feed == nullptr) return null_argument("the feed");
    feed->has_entry = false;
    const std::chrono::milliseconds patience =
        patience_ms < 0 ? std::chrono::milliseconds::max() : std::chrono::milliseconds(patience_ms);
    quire::engine::Request request(*feed->store);
    QUIRE_TRY(request.admit({}));
    QUIRE_ASSIGN(has_entry, feed->feed->next(patience));
    request.charge(has_entry ? charge_of(feed->feed->entry()) : quire::engine::feed_charge(0));
    feed->has_entry = has_entry;
    if (!has_entry || change == nullptr) return {};
    const FeedEntry& entry = feed->feed->entry();
    *change = {.operation = operation_of(entry.kind),
               .expired = entry.kind == FeedRowKind::expired ? 1 : 0,
               .lsn = static_cast<uint64_t>(entry.transaction),
               .timestamp = entry.timestamp,
               .current = quire::engine::to_c(entry.current),
               .previous = quire::engine::to_c(entry.previous)};
    return {};
  });
  if (code != QUIRE_OK) return code;
  return has_entry ? QUIRE_ROW : QUIRE_DONE;
}

int quire_feed_json(quire_feed* feed, quire_buffer* out, quire_error* error) {
  return guarded(error, [&]() -> Result<void> {
    QUIRE_TRY(check_feed(feed, out));
    if (!feed->has_entry) return fail(ErrorCode::misuse, "quire_feed_next has not given a change");
    ScratchText scratch;
    feed->feed->write_json(scratch.text());
    quire::engine::assign(*out, scratch.text());
    return {};
  });
}

int quire_feed_token(quire_feed* feed, quire_buffer* out, quire_error* error) {
  return guarded(error, [&]() -> Result<void> {
    QUIRE_TRY(check_feed(feed, out));
    quire::engine::assign(*out, feed->feed->token());
    return {};
  });
}

void quire_feed_close(quire_feed* feed) {
  const std::unique_ptr<quire_feed> owned(feed);
}

}  // extern "C"
