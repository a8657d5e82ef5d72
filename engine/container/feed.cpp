#include "engine/container/feed.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "sql/value/arena.h"
#include "sql/value/json.h"
#include "sql/value/member_reader.h"

namespace quire::engine {
namespace {

using Deadline = std::chrono::steady_clock::time_point;

// The longest wait that is not asked in between whether it is to end.
constexpr std::chrono::milliseconds kBetweenLooks{50};
// Longer waits are as good as endless, and their deadlines would overflow.
constexpr std::chrono::hours kLongestPatience{24 * 365};

std::string_view operation_name(FeedRowKind kind) {
  switch (kind) {
    case FeedRowKind::created:
      return "create";
    case FeedRowKind::replaced:
      return "replace";
    case FeedRowKind::deleted:
    case FeedRowKind::expired:
      return "delete";
    case FeedRowKind::item:
    case FeedRowKind::ordered_range:
    case FeedRowKind::unordered_range:
      break;
  }
  return "";
}

}  // namespace

// ---- Where to begin

Result<std::unique_ptr<Feed>> Feed::open(Environment& environment, std::shared_ptr<ContainerStore> store,
                                         const FeedOptions& options) {
  std::unique_ptr<Feed> feed(new Feed(environment, std::move(store), options));
  QUIRE_TRY(feed->set_partition(options.partition_key));
  QUIRE_TRY(feed->start(options));
  // What is wrong with the request is told now, not when changes are waited for.
  QUIRE_TRY(feed->open_cursor());
  feed->end_snapshot();
  return feed;
}

Result<void> Feed::start(const FeedOptions& options) {
  position_.mode = options.mode;
  position_.epk_prefix = scope_.epk_prefix;
  QUIRE_ASSIGN(const ReadTransaction snapshot, environment_.begin_read());
  QUIRE_ASSIGN(const ContainerStatistics statistics, store_->statistics(snapshot));
  switch (options.start) {
    case FeedStart::beginning:
      break;
    case FeedStart::now:
      position_.after = statistics.last_lsn;
      must_have_all_ = true;
      break;
    case FeedStart::time:
      position_.from_timestamp = options.from_timestamp;
      break;
    case FeedStart::token:
      QUIRE_TRY(read_feed_token(store_->resource_names(), options.token, position_));
      must_have_all_ = true;
      QUIRE_TRY(check_history(snapshot, statistics.last_lsn));
      break;
  }
  scope_.from_timestamp = position_.from_timestamp;
  return {};
}

Result<void> Feed::check_history(const Transaction& snapshot, Lsn last) const {
  if (position_.after > last)
    return fail(ErrorCode::invalid_argument,
                "the feed token is from a later state of the container than the file has, as after a "
                "backup was put in its place; follow the feed from the beginning");
  if (position_.witness.lsn == Lsn{}) return {};
  QUIRE_ASSIGN(const std::optional<Bytes> row,
               snapshot.get(store_->feed_table(), FeedKey::latest(position_.witness.lsn).bytes()));
  if (!row || feed_row_identity(*row) == position_.witness.identity) return {};
  return fail(
      ErrorCode::invalid_argument,
      "the feed token is of changes that the file has not seen: a backup was put in its place, and has been "
      "written to since; follow the feed from the beginning");
}

Result<void> Feed::set_partition(std::span<const sql::Value> partition_key) {
  const auto& paths = store_->definition().partition_key_paths;
  if (partition_key.size() > paths.size())
    return fail(ErrorCode::invalid_partition_key,
                fmt::format("the partition key of container '{}' has {} components; {} were given",
                            store_->definition().name, paths.size(), partition_key.size()));
  QUIRE_TRY(check_partition_key(partition_key, paths));
  scope_.epk_prefix = store_->effective_key(partition_key);
  scope_.partition_key.assign(partition_key.begin(), partition_key.end());
  size_t text_bytes = 0;
  for (const sql::Value& component : partition_key)
    if (component.is_string()) text_bytes += component.as_string().size();
  text_ = std::make_unique<char[]>(text_bytes);
  char* at = text_.get();
  for (sql::Value& component : scope_.partition_key) {
    if (!component.is_string()) continue;
    const std::string_view text = component.as_string();
    component = sql::Value::string({at, text.copy(at, text.size())});
    at += text.size();
  }
  return {};
}

// ---- Reading

Result<void> Feed::open_cursor() {
  QUIRE_ASSIGN(snapshot_, environment_.begin_read());
  begun_ = std::chrono::steady_clock::now();
  seen_commit_ = snapshot_->number();
  if (position_.mode == FeedMode::latest_version) {
    QUIRE_ASSIGN(cursor_, LatestCursor::open(*store_, *snapshot_, scope_, position_.after));
    return {};
  }
  QUIRE_ASSIGN(cursor_, VersionCursor::open(*store_, *snapshot_, scope_, position_.after, must_have_all_));
  return {};
}

bool Feed::is_snapshot_too_old() const {
  if (!cursor_ || !most_age_) return false;
  const std::chrono::milliseconds most = most_age_();
  return most.count() != 0 && std::chrono::steady_clock::now() - begun_ > most;
}

Result<bool> Feed::next_now() {
  if (is_snapshot_too_old()) {
    end_snapshot();
    must_have_all_ = true;  // what comes next must not have gone meanwhile
  }
  if (!cursor_) QUIRE_TRY(open_cursor());
  QUIRE_ASSIGN(const bool is_found, std::visit([&](auto& cursor) { return cursor.next(entry_); }, *cursor_));
  if (is_found) {
    position_.after = entry_.lsn;
    return true;
  }
  // What the reader does not want is behind it, too.
  QUIRE_ASSIGN(const ContainerStatistics statistics, store_->statistics(*snapshot_));
  position_.after = std::max(position_.after, statistics.last_lsn);
  must_have_all_ = true;
  end_snapshot();
  return false;
}

void Feed::end_snapshot() noexcept {
  cursor_.reset();
  snapshot_.reset();
}

Result<bool> Feed::next(std::chrono::milliseconds patience) {
  const Deadline deadline =
      std::chrono::steady_clock::now() +
      std::min(patience, std::chrono::duration_cast<std::chrono::milliseconds>(kLongestPatience));
  for (;;) {
    const bool has_older_snapshot = cursor_.has_value();
    auto is_found = next_now();
    // What came after the snapshot at hand began.
    if (is_found && !*is_found && has_older_snapshot) is_found = next_now();
    if (!is_found) {
      end_snapshot();
      return is_found;
    }
    if (*is_found || patience.count() <= 0) return is_found;
    QUIRE_ASSIGN(const bool has_changed, wait(deadline));
    if (!has_changed) return false;
  }
}

Result<bool> Feed::wait(Deadline deadline) const {
  const uint64_t interrupts = interrupts_ != nullptr ? interrupts_->load() : 0;
  for (;;) {
    const Deadline now = std::chrono::steady_clock::now();
    if (now >= deadline) return false;
    if (environment_.wait_for_commit(seen_commit_, std::min(deadline, now + kBetweenLooks))) return true;
    if (interrupts_ != nullptr && interrupts_->load() != interrupts)
      return fail(ErrorCode::interrupted, "waiting for changes was interrupted");
  }
}

// ---- Giving

namespace {

// The last latest row up to there; none where that cannot be told, and the token is as good as it can be.
Result<FeedWitness> find_witness(const Transaction& snapshot, Table feed, Lsn after) {
  QUIRE_ASSIGN(FileCursor rows, FileCursor::open(snapshot, feed));
  QUIRE_ASSIGN(const bool has_behind,
               rows.seek(FeedKey::latest(Lsn{static_cast<uint64_t>(after) + 1}).bytes()));
  QUIRE_ASSIGN(const bool is_there, has_behind ? rows.previous() : rows.last());
  if (!is_there || !is_latest_key(rows.key())) return FeedWitness{};
  return FeedWitness{lsn_of_feed_key(rows.key()), feed_row_identity(rows.record())};
}

// An item that was once a row of a feed has a member of this name, whose place the row's own takes.
constexpr std::string_view kLsnMember = "_lsn";

std::string without_lsn(std::string_view item) {
  sql::JsonReader reader;
  sql::Arena arena;
  const auto root = reader.to_value(item, arena);
  if (!root) return std::string(item);
  std::vector<sql::Member> members;
  sql::MemberWalk walk(*root);
  for (sql::Member member; walk.next(member);)
    if (member.name != kLsnMember) members.push_back(member);
  std::string out;
  sql::write_json(sql::Value::object(members), out);
  return out;
}

}  // namespace

std::string Feed::token() const {
  FeedPosition position = position_;
  if (const auto snapshot = environment_.begin_read())
    position.witness = find_witness(*snapshot, store_->feed_table(), position.after).value_or(FeedWitness{});
  return make_feed_token(store_->resource_names(), position);
}

void Feed::write_json(std::string& out) const {
  if (position_.mode == FeedMode::latest_version) {
    const size_t begin = out.size();
    store_->write_item_json(entry_.current, out);
    if (entry_.current.member(kLsnMember).is_defined())
      out.replace(begin, std::string::npos, without_lsn(std::string_view(out).substr(begin)));
    out.pop_back();  // the closing brace; an id at least stands before it
    fmt::format_to(std::back_inserter(out), R"(,"{}":{}}})", kLsnMember,
                   static_cast<uint64_t>(entry_.transaction));
    return;
  }
  const auto write = [&](const sql::Value& item) {
    if (item.is_defined())
      store_->write_item_json(item, out);
    else
      out += "{}";
  };
  out += R"({"current":)";
  write(entry_.current);
  if (entry_.previous.is_defined()) {
    out += R"(,"previous":)";
    write(entry_.previous);
  }
  fmt::format_to(std::back_inserter(out), R"(,"metadata":{{"operationType":"{}","lsn":{},"crts":{})",
                 operation_name(entry_.kind), static_cast<uint64_t>(entry_.transaction), entry_.timestamp);
  if (entry_.previous_transaction != Lsn{})
    fmt::format_to(std::back_inserter(out), R"(,"previousImageLSN":{})",
                   static_cast<uint64_t>(entry_.previous_transaction));
  if (entry_.current.is_undefined() && entry_.previous.is_defined()) write_deleted_key(out);
  if (entry_.kind == FeedRowKind::expired) out += R"(,"timeToLiveExpired":true)";
  out += "}}";
}

// Which item is gone: its id and, by the names of its paths, its partition key.
void Feed::write_deleted_key(std::string& out) const {
  out += R"(,"id":)";
  sql::write_json(entry_.previous.member("id"), out);
  out += R"(,"partitionKey":{)";
  for (const std::vector<std::string>& path : store_->definition().partition_key_paths) {
    sql::Value component = entry_.previous;
    for (const std::string& name : path) component = component.member(name);
    if (component.is_undefined()) continue;
    if (out.back() != '{') out += ',';
    sql::write_json_string(fmt::format("{}", fmt::join(path, "/")), out);
    out += ':';
    sql::write_json(component, out);
  }
  out += '}';
}

}  // namespace quire::engine
