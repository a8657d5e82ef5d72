#include "engine/query/entry_walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sql/value/key_encoding.h"
#include "sql/value/short_bytes.h"

namespace quire::engine {
namespace {

// What each key tells of its values, cut or not.
constexpr size_t kToldBytes = kCutIndexValues - kIndexHashBytes;

}  // namespace

EntryWalk::EntryWalk(const Transaction& transaction, ContainerStore& store,
                     std::shared_ptr<const IndexSet> set, FileCursor cursor)
    : transaction_(&transaction), store_(&store), set_(std::move(set)), cursor_(std::move(cursor)) {}

Result<std::unique_ptr<EntryWalk>> EntryWalk::open(const Transaction& transaction, ContainerStore& store,
                                                   std::shared_ptr<const IndexSet> set,
                                                   const sql::IndexProbe& probe, bool is_reverse,
                                                   Bytes item_prefix) {
  QUIRE_ASSIGN(FileCursor cursor, FileCursor::open(transaction, store.indexes().table()));
  std::unique_ptr<EntryWalk> walk(new EntryWalk(transaction, store, std::move(set), std::move(cursor)));
  QUIRE_TRY(walk->begin(probe, is_reverse, item_prefix));
  return walk;
}

Result<void> EntryWalk::reopen(const sql::IndexProbe& probe, bool is_reverse, Bytes item_prefix) {
  QUIRE_ASSIGN(cursor_, FileCursor::open(*transaction_, store_->indexes().table()));
  return begin(probe, is_reverse, item_prefix);
}

Result<void> EntryWalk::begin(const sql::IndexProbe& probe, bool is_reverse, Bytes item_prefix) {
  index_ = set_->find(static_cast<IndexNumber>(probe.index));
  if (index_ == nullptr) return fail(ErrorCode::internal, "a plan asks for an index that is not there");
  QUIRE_ASSIGN(lifetime_, store_->lifetime_in_scan(*transaction_));
  shape_ = shape_of(*index_, store_->indexes().scope_bytes());
  is_reverse_ = is_reverse;
  ranges_.resize(probe.ranges.size());
  for (size_t i = 0; i < ranges_.size(); ++i) set_range(probe.ranges[i], item_prefix, ranges_[i]);
  done_ = 0;
  is_in_range_ = false;
  jump_.clear();
  group_.clear();
  entry_ = {};
  if (!is_reverse && !ranges_.empty()) cursor_.expect_seek(ranges_[0].from);
  return {};
}

bool EntryWalk::is_of_one_value(const sql::KeyRange& asked) const {
  size_t at = 0;
  for (size_t part = 0; part < shape_.is_descending.size(); ++part) {
    const size_t size = sql::encoded_key_size(asked.from.substr(at), shape_.is_descending[part]);
    if (size == 0) return false;
    at += size;
  }
  return at == asked.from.size() && asked.to == sql::key_behind(std::string(asked.from));
}

// Entries of one value lie in the order of their items' keys.
void EntryWalk::set_range(const sql::KeyRange& asked, Bytes item_prefix, Range& range) const {
  range.is_cut = asked.from.size() > kToldBytes || asked.to.size() > kToldBytes;
  const auto put = [&](std::string& bound, Bytes asked_for) {
    const Bytes told = asked_for.substr(0, kToldBytes);
    bound.clear();
    bound.reserve(kIndexNumberBytes + told.size());
    append_index_number(index_->number, bound);
    bound += told;
  };
  put(range.from, asked.from);
  put(range.to, asked.to);
  if (asked.to.empty() || asked.to.size() > kToldBytes) range.to = sql::key_behind(std::move(range.to));
  if (!range.is_cut && !item_prefix.empty() && is_of_one_value(asked)) {
    range.from += item_prefix;
    range.to = sql::key_behind(range.from);
  }
  if (!range.is_cut) return;
  range.full_from = asked.from;
  range.full_to = asked.to;
}

Result<const IndexEntry*> EntryWalk::next() {
  for (;;) {
    if (done_ == ranges_.size()) return nullptr;
    QUIRE_ASSIGN(const bool is_there, is_reverse_ ? advance_back() : advance());
    if (!is_there) {
      ++done_;
      is_in_range_ = false;
      continue;
    }
    if (!read_entry()) return std::unexpected(damaged());
    if (is_reverse_ && group_.empty()) group_ = prefix(shape_.is_descending.size());
    if (!range().is_cut) [[likely]]
      return &entry_;
    QUIRE_ASSIGN(const bool is_wanted, is_within(entry_));
    if (is_wanted) return &entry_;
  }
}

Error EntryWalk::damaged() const {
  return {ErrorCode::corrupt,
          fmt::format("index '{}' of container '{}' is damaged", index_->name, store_->definition().name)};
}

bool EntryWalk::read_entry(const TreeEntry& found) {
  const Bytes key = found.key, record = found.record;
  const size_t begin = kIndexNumberBytes + shape_.scope_bytes;
  const size_t size = entry_.values.size();
  // Neighbours often have the same values, and encodings tell their end. The last key is still there to look
  // at, unless writes of the transaction may have moved it.
  if (size > 0 && record.empty() && !entry_.has_cut_values && !transaction_->is_write() &&
      key.size() >= begin + size && sql::equal_bytes(key.data() + begin, entry_.values.data(), size)) {
    entry_.scope = key.substr(kIndexNumberBytes, shape_.scope_bytes);
    entry_.values = key.substr(begin, size);
    entry_.item_key = key.substr(begin + size);
    return true;
  }
  const auto entry = parse_index_entry(key, record, shape_);
  if (entry) entry_ = *entry;
  return entry.has_value();
}

Result<bool> EntryWalk::advance() {
  if (is_in_range_ && jump_.empty()) [[likely]] {
    QUIRE_ASSIGN(const bool is_there, cursor_.next());
    return is_there && cursor_.key() < Bytes(range().to);
  }
  const bool begins = !is_in_range_ && jump_ < range().from;
  is_in_range_ = true;
  QUIRE_ASSIGN(const bool is_there, cursor_.seek(begins ? range().from : jump_));
  // Else the jump stays: a later range, too, may begin before where skip_equal() has led to.
  if (!is_there || cursor_.key() >= Bytes(range().to)) return false;
  jump_.clear();
  return true;
}

// Onwards within the entries of equal values; else to the first of those with the values before.
Result<bool> EntryWalk::advance_back() {
  if (!group_.empty() && is_in_range_ && jump_.empty()) {
    QUIRE_ASSIGN(const bool is_there, cursor_.next());
    if (is_there && cursor_.key().starts_with(group_)) return true;
  }
  std::string end = is_in_range_ ? (jump_.empty() ? group_ : jump_) : range().to;
  if (!is_in_range_ && !jump_.empty()) end = std::min(end, jump_);
  jump_.clear();
  is_in_range_ = true;
  QUIRE_ASSIGN(const bool has_behind, cursor_.seek(end));
  QUIRE_ASSIGN(const bool is_there, has_behind ? cursor_.previous() : cursor_.last());
  if (!is_there || cursor_.key() < Bytes(range().from)) {
    group_.clear();
    return false;
  }
  const auto last = parse_index_entry(cursor_.key(), cursor_.record(), shape_);
  if (!last) return std::unexpected(damaged());
  entry_ = *last;
  group_ = prefix(shape_.is_descending.size());
  return cursor_.seek(group_);
}

std::string EntryWalk::prefix(size_t parts) const {
  size_t size = entry_.values.size();
  if (!entry_.has_cut_values && parts < shape_.is_descending.size()) {
    size = 0;
    for (size_t i = 0; i < parts; ++i)
      size += sql::encoded_key_size(entry_.values.substr(size), shape_.is_descending[i]);
  }
  std::string bytes;
  append_index_number(index_->number, bytes);
  bytes += entry_.scope;
  bytes += entry_.values.substr(0, size);
  return bytes;
}

Result<uint64_t> EntryWalk::skip(uint64_t most) {
  if (!is_in_range_ || is_reverse_ || range().is_cut || !jump_.empty()) return 0;
  QUIRE_ASSIGN(const uint64_t skipped, cursor_.skip_before(range().to, most));
  if (skipped > 0 && !read_entry()) return std::unexpected(damaged());
  return skipped;
}

void EntryWalk::skip_equal(size_t parts) {
  if (!is_in_range_) return;
  jump_ = is_reverse_ ? prefix(parts) : sql::key_behind(prefix(parts));
}

Result<bool> EntryWalk::is_within(const IndexEntry& entry) const {
  std::string full(entry.values);
  if (entry.has_cut_values) {
    QUIRE_ASSIGN(const sql::Value item, item_at(entry.item_key));
    std::vector<sql::Value> values(shape_.is_descending.size());
    values_of(entry, item, values);
    full.clear();
    for (size_t i = 0; i < values.size(); ++i)
      shape_.is_descending[i] ? sql::encode_key_descending(values[i], full)
                              : sql::encode_key(values[i], full);
  }
  return full >= range().full_from && (range().full_to.empty() || full < range().full_to);
}

Result<sql::Value> EntryWalk::item_at(Bytes key, Bytes record, const Lead& lead) const {
  QUIRE_ASSIGN(const sql::Value root, store_->item_at(*transaction_, key, record, lead));
  if (root.is_defined()) [[likely]]
    return root;
  return fail(ErrorCode::corrupt,
              fmt::format("index '{}' of container '{}' leads to an item that is not there", index_->name,
                          store_->definition().name));
}

Result<sql::Value> EntryWalk::visible_item_at(Bytes key, Bytes record, const Lead& lead) const {
  QUIRE_ASSIGN(const sql::Value root, item_at(key, record, lead));
  return lifetime_.has_ended(header_of(root), transaction_->now()) ? sql::Value() : root;
}

Result<void> EntryWalk::read_values(const IndexEntry& entry, std::span<sql::Value> values,
                                    sql::Arena& arena) const {
  bool is_told = !entry.has_cut_values;
  size_t at = 0;
  for (size_t i = 0; is_told && i < values.size(); ++i) {
    const bool is_descending = shape_.is_descending[i];
    const size_t size = sql::encoded_key_size(entry.values.substr(at), is_descending);
    const auto value = sql::decode_key(entry.values.substr(at, size), is_descending, arena);
    is_told = value.has_value();
    if (is_told) values[i] = *value;
    at += size;
  }
  if (is_told) return {};
  QUIRE_ASSIGN(const sql::Value item, item_at(entry.item_key));
  values_of(entry, item, values);
  return {};
}

// Of an index over elements, the values in full are only found again by looking at each: its entries tell
// theirs unless they are cut, and then the first whose encoding begins alike is the one.
void EntryWalk::values_of(const IndexEntry& entry, const sql::Value& item,
                          std::span<sql::Value> values) const {
  if (index_->is_multi_valued()) {
    std::vector<sql::Value> reached{item};
    for (const sql::IndexStep& step : index_->parts[0].path) {
      std::vector<sql::Value> next;
      for (const sql::Value& value : reached) {
        if (!step.is_element) next.push_back(value.member(step.name));
        for (uint32_t i = 0; step.is_element && i < value.size(); ++i) next.push_back(value.element(i));
      }
      reached = std::move(next);
    }
    std::string encoded, key;
    for (const sql::Value& value : reached) {
      if (value.is_undefined()) continue;
      encoded.clear();
      key.clear();
      shape_.is_descending[0] ? sql::encode_key_descending(value, encoded) : sql::encode_key(value, encoded);
      append_index_values(encoded, key);
      if (key == entry.values) values[0] = value;
    }
    return;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = item;
    for (const sql::IndexStep& step : index_->parts[i].path) values[i] = values[i].member(step.name);
  }
}

}  // namespace quire::engine
