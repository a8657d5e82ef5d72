#include "engine/file/pending_commits.h"

#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <utility>

#include "sql/value/prefetch.h"

namespace quire::engine {
namespace {

constexpr size_t kFilterBits = 64;
constexpr size_t kLeastFilterWords = 16, kBytesOfFilterWord = 1024;
constexpr size_t kLeastChanges = 16;
constexpr size_t kRecordAlignment = 8;
constexpr size_t kCacheLine = 64;

// Where the system has no entropy to give, one that anybody could know does.
uint64_t draw_seed() noexcept {
  uint64_t seed = 0;
  return getentropy(&seed, sizeof seed) == 0 ? seed : 0x9E3779B97F4A7C15;
}

}  // namespace

PendingCommits::PendingCommits(uint64_t base, size_t bytes)
    : base_(base),
      seed_(draw_seed()),
      head_(make_node(kMostLevels)),
      filter_(filter_words(bytes)),
      random_(seed_ | 1) {}

// A power of two, so that no look-up has to divide.
size_t PendingCommits::filter_words(size_t bytes) noexcept {
  return std::bit_ceil(std::max(kLeastFilterWords, bytes / kBytesOfFilterWord));
}

void PendingCommits::begin_anew(uint64_t base, size_t bytes) {
  if (filter_.size() != filter_words(bytes))
    filter_ = std::vector<std::atomic<uint64_t>>(filter_words(bytes));
  for (auto& word : filter_) word.store(0, std::memory_order_relaxed);
  tables_.store(0, std::memory_order_relaxed);
  base_ = base;
  last_.store(0, std::memory_order_relaxed);
  nodes_.clear();
  bytes_of_changes_.clear();
  head_ = make_node(kMostLevels);  // there is a chunk for it
  newest_.clear();
  repeated_ = {};
  undo_.clear();
  savepoint_ = 0;
  bytes_ = 0;
  taken_back_ = 0;
  spare_count_ = 0;
  appended_.key.clear();
  at_hand_.clear();
  unlinked_.clear();
  is_in_order_ = false;
  has_unlinked_.store(false, std::memory_order_relaxed);
}

// ---- Looking

uint64_t PendingCommits::hash(uint32_t slot, Bytes key) const noexcept {
  return XXH3_64bits_withSeed(key.data(), key.size(), seed_ + slot);
}

PendingCommits::Lead PendingCommits::lead_of(Bytes key) noexcept {
  Lead lead;
  if (!key.empty()) std::memcpy(&lead, key.data(), std::min(key.size(), sizeof lead));
  if constexpr (std::endian::native == std::endian::little)
    lead = {std::byteswap(lead.first), std::byteswap(lead.second)};
  return lead;
}

// What comes next one level down is asked for while the level above is looked at.
PendingCommits::Node* PendingCommits::first_from(uint32_t slot, Bytes key, Way* way) const noexcept {
  Node* at = head_;
  Node* next = nullptr;
  const Lead lead = lead_of(key);
  for (size_t level = kMostLevels; level-- > 0;) {
    for (;;) {
      if (level > 0) sql::prefetch(at->next(level - 1).load(std::memory_order_relaxed));
      next = at->next(level).load(std::memory_order_acquire);
      if (next == nullptr || !next->is_before(slot, lead, key)) break;
      at = next;
    }
    if (way != nullptr) (*way)[level] = at;
  }
  return next;
}

const PendingCommits::Node* PendingCommits::seen(const Node* newest, uint32_t upto) noexcept {
  for (const Node* node = newest; node != nullptr && node->has_key_of(*newest); node = node->behind())
    if (node->commit.load(std::memory_order_relaxed) <= upto) return node;
  return nullptr;
}

size_t PendingCommits::filter_word(uint64_t hashed) const noexcept {
  return hashed / kFilterBits & (filter_.size() - 1);
}

bool PendingCommits::may_have(uint64_t hashed) const noexcept {
  const uint64_t word = filter_[filter_word(hashed)].load(std::memory_order_acquire);
  return (word >> hashed % kFilterBits & 1) != 0;
}

void PendingCommits::ask_for(uint32_t slot, Bytes key) const noexcept {
  const uint64_t hashed = hash(slot, key);
  sql::prefetch_to_write(&filter_[filter_word(hashed)]);
  newest_.ask_for(hashed);
}

std::optional<PendingCommits::Change> PendingCommits::find(uint32_t slot, Bytes key,
                                                           uint32_t upto) const noexcept {
  const uint64_t hashed = hash(slot, key);
  if (!may_have(hashed)) return std::nullopt;
  for (const Node* node = newest_.find(slot, key, hashed); node != nullptr; node = node->older)
    if (node->commit.load(std::memory_order_relaxed) <= upto) return node->change();
  return std::nullopt;
}

std::optional<PendingCommits::Change> PendingCommits::find_at_hand(uint32_t slot, Bytes key) const noexcept {
  if (const Node* const node = find_repeated(slot, key)) return node->change();
  return find(slot, key, last() + 1);
}

// Those of other commits, and what was taken back, have another number.
PendingCommits::Node* PendingCommits::find_repeated(uint32_t slot, Bytes key) const noexcept {
  const uint32_t at_hand = last_.load(std::memory_order_relaxed) + 1;
  for (Node* const node : repeated_)
    if (node != nullptr && node->is_of(slot, key) && node->commit.load(std::memory_order_relaxed) == at_hand)
      return node;
  return nullptr;
}

PendingCommits::Node* PendingCommits::NewestChanges::find(uint32_t slot, Bytes key,
                                                          uint64_t hashed) const noexcept {
  const Table& table = *table_.load(std::memory_order_acquire);
  for (size_t i = hashed & table.mask;; i = (i + 1) & table.mask) {
    const Place& place = table.places[i];
    Node* const node = place.node.load(std::memory_order_acquire);
    if (node == nullptr || (place.hashed == hashed && node->is_of(slot, key))) return node;
  }
}

bool PendingCommits::Walk::settle(const Node* from) noexcept {
  for (at_ = nullptr; from != nullptr && from->slot == slot_; from = from->behind())
    if (from->commit.load(std::memory_order_relaxed) <= upto_) {
      at_ = from;
      break;
    }
  return at_ != nullptr;
}

bool PendingCommits::Walk::seek(Bytes key) noexcept {
  return settle(commits_->first_from(slot_, key));
}

bool PendingCommits::Walk::next() noexcept {
  const Node* from = at_;
  while (from != nullptr && from->has_key_of(*at_)) from = from->behind();
  return settle(from);
}

// `from` is the oldest change of its key, the last one before where the walk goes on.
bool PendingCommits::Walk::settle_before(const Node* from) noexcept {
  Way way;
  for (at_ = nullptr; from != commits_->head_ && from->slot == slot_; from = way[0]) {
    at_ = seen(commits_->first_from(slot_, from->key_view(), &way), upto_);
    if (at_ != nullptr) return true;
  }
  return false;
}

bool PendingCommits::Walk::seek_before(Bytes key) noexcept {
  Way way;
  commits_->first_from(slot_, key, &way);
  return settle_before(way[0]);
}

bool PendingCommits::Walk::last() noexcept {
  Way way;
  commits_->first_from(slot_ + 1, {}, &way);
  return settle_before(way[0]);
}

PendingCommits::Change PendingCommits::Walk::change() const noexcept {
  return at_->change();
}

// ---- The newest changes

PendingCommits::NewestChanges::Place& PendingCommits::NewestChanges::Table::place_of(
    const Node& node, uint64_t hashed) const noexcept {
  for (size_t i = hashed & mask;; i = (i + 1) & mask) {
    const Node* const there = places[i].node.load(std::memory_order_relaxed);
    if (there == nullptr || (places[i].hashed == hashed && there->has_key_of(node))) return places[i];
  }
}

void PendingCommits::NewestChanges::make_room() {
  const size_t places = tables_.back()->mask + 1;
  if (4 * (count_ + 1) > 3 * places) grow(4 * places);
}

void PendingCommits::NewestChanges::grow(size_t places) {
  auto table = std::make_unique<Table>(places);
  for (size_t i = 0; !tables_.empty() && i <= tables_.back()->mask; ++i) {
    const Place& from = tables_.back()->places[i];
    Node* const node = from.node.load(std::memory_order_relaxed);
    if (node == nullptr) continue;
    Place& to = table->place_of(*node, from.hashed);
    to.hashed = from.hashed;
    to.node.store(node, std::memory_order_relaxed);
  }
  tables_.push_back(std::move(table));
  table_.store(tables_.back().get(), std::memory_order_release);
}

void PendingCommits::NewestChanges::clear() noexcept {
  tables_.erase(tables_.begin(), tables_.end() - 1);
  const Table& table = *tables_.back();
  for (size_t i = 0; i <= table.mask; ++i) {
    table.places[i].hashed = 0;
    table.places[i].node.store(nullptr, std::memory_order_relaxed);
  }
  count_ = 0;
}

void PendingCommits::NewestChanges::set(uint64_t hashed, Node* node) noexcept {
  Place& place = tables_.back()->place_of(*node, hashed);
  if (place.node.load(std::memory_order_relaxed) == nullptr) {
    place.hashed = hashed;
    ++count_;
  }
  place.node.store(node, std::memory_order_release);
}

// ---- The list

bool PendingCommits::Unlinked::is_before(const Unlinked& other) const noexcept {
  if (slot != other.slot) return slot < other.slot;
  if (lead.first != other.lead.first) return lead.first < other.lead.first;
  if (lead.second != other.lead.second) return lead.second < other.lead.second;
  if (const int order = node->key_view().compare(other.node->key_view()); order != 0) return order < 0;
  // Of one key the newest first.
  return node->commit.load(std::memory_order_relaxed) > other.node->commit.load(std::memory_order_relaxed);
}

void PendingCommits::go_on(const Unlinked& to, Way& way) noexcept {
  const auto is_behind = [&](const Node* node) {
    return node != nullptr && node->is_before(to.slot, to.lead, to.node->key_view());
  };
  const auto next = [](const Node* node, size_t level) {
    return node->next(level).load(std::memory_order_relaxed);
  };
  size_t level = 0;
  while (level < kMostLevels && is_behind(next(way[level], level))) ++level;
  if (level == 0) return;
  for (Node* at = way[level - 1]; level-- > 0; way[level] = at)
    while (is_behind(next(at, level))) at = next(at, level);
}

void PendingCommits::sort(std::vector<Unlinked>& changes) noexcept {
  std::ranges::sort(changes, [](const Unlinked& a, const Unlinked& b) { return a.is_before(b); });
}

void PendingCommits::put_in_order() const noexcept {
  const std::lock_guard lock(linking_);
  if (!is_in_order_) sort(unlinked_);
  is_in_order_ = true;
}

std::span<const PendingCommits::Node* const> PendingCommits::nodes_in_order() const noexcept try {
  put_in_order();
  const std::lock_guard lock(linking_);
  nodes_in_order_.clear();
  if (head_->behind() != nullptr) return {};
  for (const Unlinked& change : unlinked_) nodes_in_order_.push_back(change.node);
  return nodes_in_order_;
} catch (const std::bad_alloc&) {
  return {};
}

void PendingCommits::link(std::vector<Unlinked>& added) const noexcept {
  if (added.empty()) return;
  sort(added);
  constexpr size_t kNodesAhead = 8;
  Way way;
  first_from(added.front().slot, added.front().node->key_view(), &way);
  for (size_t i = 0; i < added.size(); ++i) {
    if (i + kNodesAhead < added.size()) sql::prefetch_to_write(added[i + kNodesAhead].node);
    go_on(added[i], way);
    Node* const node = added[i].node;
    for (size_t level = 0; level < added[i].levels; ++level) {
      Link& before = way[level]->next(level);
      node->next(level).store(before.load(std::memory_order_relaxed), std::memory_order_relaxed);
      before.store(node, std::memory_order_release);
      way[level] = node;
    }
  }
  added.clear();
}

void PendingCommits::link_published() const noexcept {
  const std::lock_guard lock(linking_);
  link(unlinked_);
  has_unlinked_.store(false, std::memory_order_release);
}

// What comes into the list stands before what is there of its key: so older changes come first.
void PendingCommits::link_all_at_hand() noexcept {
  link();
  const std::lock_guard lock(linking_);
  link(at_hand_);
}

// ---- Writing

// One of four nodes has a link that skips about four, one of sixteen another that skips sixteen, and so on.
size_t PendingCommits::draw_levels() noexcept {
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  size_t levels = 1;
  for (uint64_t bits = random_; levels < kMostLevels && bits % 4 == 0; bits /= 4) ++levels;
  return levels;
}

PendingCommits::Node* PendingCommits::make_node(size_t levels) {
  static_assert(sizeof(Node) + sizeof(Link) <= kCacheLine && sizeof(Node) % alignof(Link) == 0);
  char* const place = nodes_.allocate(sizeof(Node) + levels * sizeof(Link), kCacheLine);
  auto* const node = new (place) Node;
  for (size_t level = 0; level < levels; ++level) new (&node->next(level)) Link(nullptr);
  return node;
}

PendingCommits::Node* PendingCommits::change(uint32_t slot, Bytes key, Record record) {
  const uint32_t last = last_.load(std::memory_order_relaxed);
  if (undo_.size() == undo_.capacity()) undo_.reserve(std::max(kLeastChanges, 2 * undo_.size()));
  if (Node* const node = find_repeated(slot, key)) return change(node, record);
  const uint64_t hashed = hash(slot, key);
  newest_.ask_for(hashed);
  Node* const newest = may_have(hashed) ? newest_.find(slot, key, hashed) : nullptr;
  if (newest != nullptr && newest->commit.load(std::memory_order_relaxed) == last + 1) {
    repeated_[repeated_count_++ % repeated_.size()] = newest;
    return change(newest, record);
  }
  newest_.make_room();
  if (at_hand_.size() == at_hand_.capacity()) at_hand_.reserve(std::max(kLeastChanges, 2 * at_hand_.size()));
  const size_t levels = draw_levels();
  char* const own_key = bytes_of_changes_.allocate(key.size(), 1);
  std::memcpy(own_key, key.data(), key.size());
  Node* const node = make_node(levels);
  node->lead = lead_of(key);
  node->key = own_key;
  node->key_bytes = static_cast<uint16_t>(key.size());
  node->slot = static_cast<uint16_t>(slot);
  node->last_undo = static_cast<uint32_t>(undo_.size());
  node->set(record);
  node->commit.store(last + 1, std::memory_order_relaxed);
  node->older = newest;
  newest_.set(hashed, node);
  at_hand_.push_back({node->lead, node, node->slot, static_cast<uint16_t>(levels)});
  // Nobody else writes to it.
  std::atomic<uint64_t>& bits = filter_[filter_word(hashed)];
  bits.store(bits.load(std::memory_order_relaxed) | uint64_t{1} << hashed % kFilterBits,
             std::memory_order_release);
  const uint64_t tables = tables_.load(std::memory_order_relaxed);
  tables_.store(tables | uint64_t{1} << slot % 64, std::memory_order_relaxed);
  undo_.push_back({node, record, {}, kNone});
  bytes_ += key.size();
  return node;
}

// Once more in the commit at hand. There is room for what it takes to undo it.
PendingCommits::Node* PendingCommits::change(Node* node, Record record) noexcept {
  const Record replaced = node->record_now();
  node->set(record);
  if (node->last_undo >= savepoint_) {
    undo_[node->last_undo].record = record;
    let_go(replaced);
    return node;
  }
  const uint32_t before = std::exchange(node->last_undo, static_cast<uint32_t>(undo_.size()));
  undo_.push_back({node, record, replaced, before});
  return node;
}

char* PendingCommits::room_for(size_t record_bytes) {
  for (size_t i = 0; i < spare_count_; ++i)
    if (spare_[i].size == record_bytes) return std::exchange(spare_[i], spare_[--spare_count_]).bytes;
  return bytes_of_changes_.allocate(std::max<size_t>(record_bytes, 1), kRecordAlignment);
}

std::span<char> PendingCommits::append(uint32_t slot, Bytes key, size_t record_bytes) {
  char* const record = room_for(record_bytes);
  appended_.key = key;
  appended_.slot = slot;
  change(slot, key, {record, static_cast<uint32_t>(record_bytes)});
  bytes_ += record_bytes;
  return {record, record_bytes};
}

// The tree, and the list before, have nothing behind it; nor has this one while it is remembered.
bool PendingCommits::is_behind_appended(uint32_t slot, Bytes key) const noexcept {
  return !appended_.key.empty() && appended_.slot == slot && key > appended_.key;
}

std::span<char> PendingCommits::put(uint32_t slot, Bytes key, size_t record_bytes) {
  // Where nothing has to be kept of what it replaces, and its length stays, so does its place.
  Node* const repeated = find_repeated(slot, key);
  if (repeated != nullptr && repeated->last_undo >= savepoint_ && repeated->record_bytes == record_bytes)
    return {repeated->record, record_bytes};
  if (is_behind_appended(slot, key)) appended_.key.clear();
  char* const record = room_for(record_bytes);
  change(slot, key, {record, static_cast<uint32_t>(record_bytes)});
  bytes_ += record_bytes;
  return {record, record_bytes};
}

void PendingCommits::erase(uint32_t slot, Bytes key) {
  change(slot, key, {nullptr, kErased});
}

void PendingCommits::return_to(size_t changes) noexcept {
  while (undo_.size() > changes) {
    const Undo& undo = undo_.back();
    if (undo.is_new()) {
      undo.node->commit.store(kTakenBack, std::memory_order_relaxed);
      ++taken_back_;
      if (!at_hand_.empty() && at_hand_.back().node == undo.node) at_hand_.pop_back();
    } else {
      undo.node->set(undo.replaced);
      undo.node->last_undo = undo.before;
    }
    undo_.pop_back();
  }
  savepoint_ = std::min(savepoint_, undo_.size());
  if (undo_.empty()) bytes_ = 0;
}

void PendingCommits::let_go(const Record& record) noexcept {
  if (record.size == kErased) return;
  bytes_ -= std::min<size_t>(bytes_, record.size);
  if (spare_count_ < spare_.size()) spare_[spare_count_++] = record;
}

// Of a key there is one change at most from the savepoint on. Where there is one between the outer savepoint
// and it, that comes to be the one.
void PendingCommits::release(size_t changes, size_t outer) noexcept {
  savepoint_ = outer;
  size_t kept = changes;
  for (size_t i = changes; i < undo_.size(); ++i) {
    const Undo undo = undo_[i];
    if (!undo.is_new() && undo.before >= outer) {
      undo_[undo.before].record = undo.record;
      undo.node->last_undo = undo.before;
      let_go(undo.replaced);
    } else {
      undo.node->last_undo = static_cast<uint32_t>(kept);
      undo_[kept++] = undo;
    }
  }
  undo_.erase(undo_.begin() + static_cast<std::ptrdiff_t>(kept), undo_.end());
}

// What there is no memory to keep apart goes into the list at once.
void PendingCommits::hand_to_readers() noexcept {
  const std::lock_guard lock(linking_);
  try {
    unlinked_.insert(unlinked_.end(), at_hand_.begin(), at_hand_.end());
    is_in_order_ = false;
    has_unlinked_.store(true, std::memory_order_release);
    at_hand_.clear();
  } catch (const std::bad_alloc&) {
    link(unlinked_);
    link(at_hand_);
  }
}

void PendingCommits::publish() noexcept {
  if (!at_hand_.empty()) hand_to_readers();
  undo_.clear();
  savepoint_ = 0;
  bytes_ = 0;
  last_.store(last_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

}  // namespace quire::engine
