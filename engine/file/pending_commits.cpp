#include "engine/file/pending_commits.h"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <utility>

namespace quire::engine {
namespace {

constexpr size_t kChunkBytes = size_t{64} << 10;
constexpr size_t kFilterBits = 64;
constexpr size_t kLeastFilterWords = 16, kBytesOfFilterWord = 1024;
constexpr size_t kLeastChanges = 16;
constexpr size_t kRecordAlignment = 8;
constexpr size_t kLine = 64, kAhead = 1024;

}  // namespace

PendingCommits::PendingCommits(uint64_t base, size_t bytes)
    : base_(base),
      head_(make_node(kMostLevels)),
      filter_(std::max(kLeastFilterWords, bytes / kBytesOfFilterWord)) {}

// ---- Looking

uint64_t PendingCommits::hash(uint32_t slot, Bytes key) noexcept {
  return XXH3_64bits_withSeed(key.data(), key.size(), slot);
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
      if (level > 0) __builtin_prefetch(at->next(level - 1).load(std::memory_order_relaxed));
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

bool PendingCommits::may_have(uint64_t hashed) const noexcept {
  const uint64_t word = filter_[hashed / kFilterBits % filter_.size()].load(std::memory_order_acquire);
  return (word >> hashed % kFilterBits & 1) != 0;
}

PendingCommits::Node* PendingCommits::recent(uint32_t slot, Bytes key, uint64_t hashed) const noexcept {
  Node* const node = recent_[hashed % recent_.size()];
  const bool is_it =
      node != nullptr && node->is_of(slot, key) && node->commit.load(std::memory_order_relaxed) == last() + 1;
  return is_it ? node : nullptr;
}

std::optional<PendingCommits::Change> PendingCommits::find(uint32_t slot, Bytes key,
                                                           uint32_t upto) const noexcept {
  return find(slot, key, upto, hash(slot, key));
}

std::optional<PendingCommits::Change> PendingCommits::find_at_hand(uint32_t slot, Bytes key) const noexcept {
  const uint64_t hashed = hash(slot, key);
  if (const Node* const node = recent(slot, key, hashed)) return node->change();
  return find(slot, key, last() + 1, hashed);
}

std::optional<PendingCommits::Change> PendingCommits::find(uint32_t slot, Bytes key, uint32_t upto,
                                                           uint64_t hashed) const noexcept {
  if (!may_have(hashed)) return std::nullopt;
  const Node* const newest = first_from(slot, key);
  if (newest == nullptr || !newest->is_of(slot, key)) return std::nullopt;
  const Node* const node = seen(newest, upto);
  if (node == nullptr) return std::nullopt;
  return node->change();
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

// ---- Writing

char* PendingCommits::Arena::allocate(size_t bytes, size_t alignment) {
  void* place = room_;
  if (room_ == nullptr || std::align(alignment, bytes, place, room_bytes_) == nullptr) {
    const size_t size = std::max(bytes + alignment, kChunkBytes);
    chunks_.push_back(std::make_unique_for_overwrite<char[]>(size));
    place = chunks_.back().get();
    room_bytes_ = size;
    bytes_ += size;
    std::align(alignment, bytes, place, room_bytes_);
  }
  room_ = static_cast<char*>(place) + bytes;
  room_bytes_ -= bytes;
  // What is written to next lies in no cache as a rule.
  const auto ahead = reinterpret_cast<uintptr_t>(room_) + kAhead;
  for (size_t line = 0; line < bytes; line += kLine)
    __builtin_prefetch(reinterpret_cast<const char*>(ahead + line), 1);
  return static_cast<char*>(place);
}

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
  static_assert(sizeof(Node) + 2 * sizeof(Link) <= kLine && sizeof(Node) % alignof(Link) == 0);
  char* const place = nodes_.allocate(sizeof(Node) + levels * sizeof(Link), kLine);
  auto* const node = new (place) Node;
  for (size_t level = 0; level < levels; ++level) new (&node->next(level)) Link(nullptr);
  return node;
}

PendingCommits::Node* PendingCommits::change(uint32_t slot, Bytes key, Record record) {
  const uint32_t last = last_.load(std::memory_order_relaxed);
  if (undo_.size() == undo_.capacity()) undo_.reserve(std::max(kLeastChanges, 2 * undo_.size()));
  const uint64_t hashed = hash(slot, key);
  if (Node* const node = recent(slot, key, hashed)) return change(node, record);
  Way way;
  for (Node* node = first_from(slot, key, &way); node != nullptr && node->is_of(slot, key);
       node = node->next(0).load(std::memory_order_relaxed)) {
    const uint32_t commit = node->commit.load(std::memory_order_relaxed);
    if (commit <= last) break;
    if (commit != kTakenBack) return change(recent_[hashed % recent_.size()] = node, record);
  }
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
  for (size_t level = 0; level < levels; ++level) {
    node->next(level).store(way[level]->next(level).load(std::memory_order_relaxed),
                            std::memory_order_relaxed);
    way[level]->next(level).store(node, std::memory_order_release);
  }
  // Nobody else writes to it.
  std::atomic<uint64_t>& bits = filter_[hashed / kFilterBits % filter_.size()];
  bits.store(bits.load(std::memory_order_relaxed) | uint64_t{1} << hashed % kFilterBits,
             std::memory_order_release);
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
  appended_ = change(slot, key, {record, static_cast<uint32_t>(record_bytes)});
  bytes_ += record_bytes;
  return {record, record_bytes};
}

// Whatever was put behind it since lies behind it here; the tree, and the list before, have nothing there.
bool PendingCommits::is_behind_appended(uint32_t slot, Bytes key) const noexcept {
  if (appended_ == nullptr || appended_->slot != slot || key <= appended_->key_view()) return false;
  const Node* const behind = appended_->behind();
  return behind == nullptr || behind->slot != slot;
}

std::span<char> PendingCommits::put(uint32_t slot, Bytes key, size_t record_bytes) {
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

void PendingCommits::publish() noexcept {
  undo_.clear();
  savepoint_ = 0;
  bytes_ = 0;
  last_.store(last_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

}  // namespace quire::engine
