// Commits that are in the log and not in LMDB's tree yet: what a snapshot sees beside the tree. One writer
// adds to it, any number of readers look.
//
// Each change has the number of its commit, counted from 1; who sees the first `upto` commits passes over the
// changes of later ones. So the writer adds its changes under the next number, which it alone looks for, and
// publishes them as one. Nothing that was put in moves or goes before all of it does.
//
// A key is found by its hash, its newest change first. For walks there is a list of the changes, ordered by
// table and key, of one key the newest first, with links that skip ahead (a skip list). Changes go into it
// together, in order, once somebody wants to walk there: to search a place for each by itself costs a
// multiple, and as a rule nobody walks before all are applied to the tree.
//
// Internal to engine/file.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/file/chunk_arena.h"
#include "engine/file/table.h"
#include "sql/value/prefetch.h"

namespace quire::engine {

// What Transaction::number() tells of LMDB's commit `base` and the first so many that are pending behind it.
constexpr uint64_t commit_number(uint64_t base, uint32_t pending) noexcept {
  constexpr unsigned kPendingBits = 20;  // a log has room for fewer
  return (base << kPendingBits) + pending;
}

class PendingCommits {
  struct Node;

 public:
  // `base`: LMDB's number of the commit that they follow. `bytes`: of keys and records, so many are expected
  // at most. bad_alloc.
  PendingCommits(uint64_t base, size_t bytes);
  PendingCommits(const PendingCommits&) = delete;
  PendingCommits& operator=(const PendingCommits&) = delete;

  uint64_t base() const noexcept { return base_; }
  // How many are published.
  uint32_t last() const noexcept { return last_.load(std::memory_order_acquire); }

  struct Change {
    Bytes key;
    Bytes record;
    bool is_erased = false;  // there is no such key
  };
  // What the first `upto` commits have made of a key; nothing if they leave it alone.
  std::optional<Change> find(uint32_t slot, Bytes key, uint32_t upto) const noexcept;

  // Walks the keys of a table that the first `upto` commits have changed, those that were erased among them;
  // of the commit at hand, what was linked before the call. Begun and used where all of these commits are
  // published, or by the writer.
  class Walk {
   public:
    Walk(const PendingCommits& commits, uint32_t slot, uint32_t upto)
        : commits_(&commits), slot_(slot), upto_(upto) {
      if (commits.may_have_any(slot)) commits.link();
    }
    // Each tells whether there is such a key, and stands on it; where there is none, on none.
    bool seek(Bytes key) noexcept;  // the first that is not less
    bool seek_before(Bytes key) noexcept;
    bool last() noexcept;
    bool next() noexcept;  // from the key that it stands on
    bool is_there() const noexcept { return at_ != nullptr; }
    Change change() const noexcept;

   private:
    bool settle(const Node* from) noexcept;
    bool settle_before(const Node* from) noexcept;

    const PendingCommits* commits_;
    uint32_t slot_, upto_;
    const Node* at_ = nullptr;
  };

  // ---- For the writer: the changes of the commit at hand, number last() + 1.

  // As find() with that number.
  std::optional<Change> find_at_hand(uint32_t slot, Bytes key) const noexcept;
  // Puts them into the list, where walks of that table find its own.
  void link_at_hand(uint32_t slot) noexcept {
    if (!at_hand_.empty() && may_have_any(slot)) link_all_at_hand();
  }
  // A change of the key is to come: asks for the memory where it is looked for.
  void ask_for(uint32_t slot, Bytes key) const noexcept;
  // The record's place, to be filled before the next call. bad_alloc: nothing has changed.
  std::span<char> put(uint32_t slot, Bytes key, size_t record_bytes);
  void erase(uint32_t slot, Bytes key);
  size_t changes() const noexcept { return undo_.size(); }
  // Of the commit at hand: keys and records.
  size_t bytes() const noexcept { return bytes_; }
  // That keys, records and nodes take, what was taken back too.
  size_t memory() const noexcept { return nodes_.bytes() + bytes_of_changes_.bytes(); }
  // Changes that stay though nobody sees them: a look-up of their key passes over each.
  size_t taken_back() const noexcept { return taken_back_; }
  // Takes back all but the first `changes`: none of them, or as many as there were at a savepoint.
  void return_to(size_t changes) noexcept;
  // How many changes there are, which may be returned to until release(); that of one that was made later
  // comes first. What is changed again is kept in between, and only there.
  size_t make_savepoint() noexcept { return savepoint_ = undo_.size(); }
  // The savepoint with `changes` is one no more; that with `outer`, or 0, is the last one then.
  void release(size_t changes, size_t outer) noexcept;
  // put() of a key that is greater than all others of its table, in the tree, too; it is remembered.
  std::span<char> append(uint32_t slot, Bytes key, size_t record_bytes);
  // Whether a key comes behind the one that was appended last, and so behind all others of its table. May be
  // false though it does.
  bool is_behind_appended(uint32_t slot, Bytes key) const noexcept;
  // Remembers what the list before, which nothing is added to any more, does.
  void remember_appended(const PendingCommits& before) { appended_ = before.appended_; }
  // visit(slot, Change), each key once; false ends it.
  template <typename Visit>
  bool for_each_at_hand(const Visit& visit) const;
  // The changes from number `from` up to `to`, in the order in which they were made; likewise.
  template <typename Visit>
  bool for_each_change(size_t from, size_t to, const Visit& visit) const;
  // From now on the commit at hand is seen.
  void publish() noexcept;
  // As if it were made now, in the memory that it has. Nobody else sees it. bad_alloc: nothing has changed.
  void begin_anew(uint64_t base, size_t bytes);
  // Puts what is published in order, which the others here and walks would do.
  void put_in_order() const noexcept;
  // As many as for_each() visits, or more.
  size_t keys() const noexcept { return newest_.count(); }
  // What the first `upto` commits together have made of each key: visit(slot, Change), in order; false ends
  // it.
  template <typename Visit>
  bool for_each(uint32_t upto, const Visit& visit) const;
  // for_each(last(), visit) for who applies them, one thread at a time, while nothing is added.
  template <typename Visit>
  bool apply_each(const Visit& visit) const;

 private:
  static constexpr uint32_t kErased = UINT32_MAX;
  static constexpr uint32_t kTakenBack = UINT32_MAX;  // more than any `upto`
  static constexpr size_t kMostLevels = 12;

  struct Record {
    char* bytes = nullptr;
    uint32_t size = 0;  // or kErased
    size_t told() const noexcept { return size == kErased ? 0 : size; }
  };
  using Link = std::atomic<Node*>;
  // The first bytes of a key as numbers: where two of them differ, the keys are in the same order.
  struct Lead {
    uint64_t first = 0, second = 0;
    bool operator==(const Lead&) const = default;
  };
  static Lead lead_of(Bytes key) noexcept;
  // A line of memory with its first link. As many links as it has levels lie right behind it.
  struct Node {
    Lead lead;
    const char* key = nullptr;
    char* record = nullptr;
    uint32_t record_bytes = 0;  // or kErased
    uint16_t key_bytes = 0;
    uint16_t slot = 0;
    std::atomic<uint32_t> commit = 0;
    uint32_t last_undo = 0;       // of the commit at hand: where the last change of it is told
    const Node* older = nullptr;  // the change of its key before this one

    Bytes key_view() const noexcept { return {key, key_bytes}; }
    Link& next(size_t level) noexcept { return reinterpret_cast<Link*>(this + 1)[level]; }
    const Link& next(size_t level) const noexcept { return reinterpret_cast<const Link*>(this + 1)[level]; }
    Record record_now() const noexcept { return {record, record_bytes}; }
    void set(Record other) noexcept {
      record = other.bytes;
      record_bytes = other.size;
    }
    Change change() const noexcept { return change_to(record_now()); }
    Change change_to(const Record& other) const noexcept {
      const bool is_erased = other.size == kErased;
      return {key_view(), is_erased ? Bytes() : Bytes(other.bytes, other.size), is_erased};
    }
    bool is_before(uint32_t other_slot, const Lead& other_lead, Bytes other_key) const noexcept {
      if (slot != other_slot) return slot < other_slot;
      if (lead.first != other_lead.first) return lead.first < other_lead.first;
      if (lead.second != other_lead.second) return lead.second < other_lead.second;
      return key_view() < other_key;
    }
    // The key itself lies elsewhere: a look at it is the last.
    bool is_of(uint32_t other_slot, Bytes other_key) const noexcept {
      return slot == other_slot && key_bytes == other_key.size() && lead == lead_of(other_key) &&
             key_view() == other_key;
    }
    bool has_key_of(const Node& other) const noexcept {
      return slot == other.slot && key_bytes == other.key_bytes && lead == other.lead &&
             (key == other.key || key_view() == other.key_view());
    }
    const Node* behind() const noexcept { return next(0).load(std::memory_order_acquire); }
  };
  using Way = std::array<Node*, kMostLevels>;

  static void ask_for_change(const Node& node) noexcept {
    constexpr size_t kMostBytes = 512, kLine = 64;
    sql::prefetch(node.key);
    for (size_t at = 0; at < std::min(node.record_now().told(), kMostBytes); at += kLine)
      sql::prefetch(node.record + at);
  }
  // Goes some nodes ahead of a walk, and asks for the memory that it will come to.
  class Outlook {
   public:
    explicit Outlook(const Node* from) : at_(from) {
      for (size_t i = 0; i < kNodes; ++i) go_on();
    }
    void go_on() noexcept {
      if (at_ == nullptr) return;
      at_ = at_->behind();
      if (at_ != nullptr) ask_for_change(*at_);
    }

   private:
    static constexpr size_t kNodes = 6;
    const Node* at_;
  };

  static constexpr uint32_t kNone = UINT32_MAX;

  // A change of the commit at hand, and what it has replaced of the same commit.
  struct Undo {
    Node* node;
    Record record;
    Record replaced;
    uint32_t before;  // the one that it has replaced; kNone: the node is new

    bool is_new() const noexcept { return before == kNone; }
  };

  // What is not in the list yet, with all that tells its place there.
  struct Unlinked {
    Lead lead;
    Node* node;
    uint16_t slot;
    uint16_t levels;

    bool is_before(const Unlinked& other) const noexcept;
  };

  // The newest change of each key, by the key's hash: a table with open addressing. One that has become too
  // small stays for those who look there still.
  class NewestChanges {
   public:
    NewestChanges() { grow(kLeastPlaces); }
    // Keeps the last table alone. Nobody looks there.
    void clear() noexcept;
    Node* find(uint32_t slot, Bytes key, uint64_t hashed) const noexcept;
    // Asks for the memory where it will be looked for.
    void ask_for(uint64_t hashed) const noexcept {
      const Table& table = *tables_.back();
      sql::prefetch_to_write(&table.places[hashed & table.mask]);
    }
    // For one more key. bad_alloc.
    void make_room();
    // In place of the one that its key has.
    void set(uint64_t hashed, Node* node) noexcept;
    size_t count() const noexcept { return count_; }

   private:
    static constexpr size_t kLeastPlaces = 64;
    struct Place {
      uint64_t hashed = 0;  // is there before the node, and stays
      std::atomic<Node*> node = nullptr;
    };
    struct Table {
      explicit Table(size_t count) : mask(count - 1), places(std::make_unique<Place[]>(count)) {}
      // The key's, or the free one where it belongs.
      Place& place_of(const Node& node, uint64_t hashed) const noexcept;

      size_t mask;
      std::unique_ptr<Place[]> places;
    };
    void grow(size_t places);

    std::atomic<const Table*> table_ = nullptr;  // the last one
    std::vector<std::unique_ptr<Table>> tables_;
    size_t count_ = 0;
  };

  // The first node that is not less; `way`, if given, gets the last one before it on each level.
  Node* first_from(uint32_t slot, Bytes key, Way* way = nullptr) const noexcept;
  size_t filter_word(uint64_t hashed) const noexcept;
  bool may_have(uint64_t hashed) const noexcept;
  // Whether anything of a table was ever put in. May be true though nothing was.
  bool may_have_any(uint32_t slot) const noexcept {
    return (tables_.load(std::memory_order_relaxed) >> slot % 64 & 1) != 0;
  }
  // What is published, into the list.
  void link() const noexcept {
    if (has_unlinked_.load(std::memory_order_acquire)) link_published();
  }
  void link_published() const noexcept;
  void link_all_at_hand() noexcept;
  void hand_to_readers() noexcept;
  // By who holds linking_; nothing is left of `added`. What was published before it has to be there.
  void link(std::vector<Unlinked>& added) const noexcept;
  // Of everything that is published, if nobody has walked there: else nothing.
  std::span<const Node* const> nodes_in_order() const noexcept;
  static void sort(std::vector<Unlinked>& changes) noexcept;
  // From the way to a key that is not greater to the way to this one.
  static void go_on(const Unlinked& to, Way& way) noexcept;
  // From the newest change of a key on, the one that is seen.
  static const Node* seen(const Node* newest, uint32_t upto) noexcept;
  Node* change(uint32_t slot, Bytes key, Record record);
  Node* change(Node* node, Record record) noexcept;
  // That of the key in the commit at hand, if it is known to be changed again and again; else null.
  Node* find_repeated(uint32_t slot, Bytes key) const noexcept;
  char* room_for(size_t record_bytes);
  void let_go(const Record& record) noexcept;
  Node* make_node(size_t levels);
  static size_t filter_words(size_t bytes) noexcept;
  size_t draw_levels() noexcept;
  uint64_t hash(uint32_t slot, Bytes key) const noexcept;

  uint64_t base_;
  const uint64_t seed_;  // of hashes: nobody can choose keys that share one
  std::atomic<uint32_t> last_ = 0;
  ChunkArena nodes_;  // apart, so that a search finds them close together
  ChunkArena bytes_of_changes_;
  Node* head_;
  // A bit for each key that was ever put in: most look-ups find none.
  std::vector<std::atomic<uint64_t>> filter_;
  std::atomic<uint64_t> tables_ = 0;  // likewise for tables

  size_t taken_back_ = 0;
  uint64_t random_;
  std::vector<Undo> undo_;
  // Room of records that were let go, for others of their size: counters are changed with each item.
  std::array<Record, 8> spare_;
  size_t spare_count_ = 0;
  struct Appended {
    uint32_t slot = 0;
    std::string key;  // none: nothing is remembered
  };
  Appended appended_;
  NewestChanges newest_;
  // Of keys that one commit, that at hand or another, has changed more than once: counters, which each item
  // reads and changes. They are found without a hash.
  std::array<Node*, 4> repeated_{};
  size_t repeated_count_ = 0;      // by which the next one takes the place of the oldest
  std::vector<Unlinked> at_hand_;  // of the commit at hand, in the order in which they were made
  size_t savepoint_ = 0;
  size_t bytes_ = 0;

  mutable std::mutex linking_;              // guards the links of the list against other writers, and:
  mutable std::vector<Unlinked> unlinked_;  // published, but not in the list
  mutable bool is_in_order_ = false;        // unlinked_
  mutable std::vector<const Node*> nodes_in_order_;  // for who applies them
  mutable std::atomic<bool> has_unlinked_ = false;
};

template <typename Visit>
bool PendingCommits::for_each_at_hand(const Visit& visit) const {
  for (const Undo& undo : undo_)
    if (undo.is_new() && !visit(undo.node->slot, undo.node->change())) return false;
  return true;
}

template <typename Visit>
bool PendingCommits::for_each_change(size_t from, size_t to, const Visit& visit) const {
  for (size_t i = from; i < to; ++i)
    if (!visit(undo_[i].node->slot, undo_[i].node->change_to(undo_[i].record))) return false;
  return true;
}

template <typename Visit>
bool PendingCommits::for_each(uint32_t upto, const Visit& visit) const {
  link();
  const Node* before = nullptr;
  Outlook outlook(head_);
  for (const Node* node = head_->behind(); node != nullptr; node = node->behind()) {
    outlook.go_on();
    if (node->commit.load(std::memory_order_relaxed) > upto) continue;
    if (before != nullptr && before->has_key_of(*node)) continue;
    before = node;
    if (!visit(node->slot, node->change())) return false;
  }
  return true;
}

// As a rule nobody has walked the list: it is not made then, nor gone along from node to node.
template <typename Visit>
bool PendingCommits::apply_each(const Visit& visit) const {
  const std::span<const Node* const> nodes = nodes_in_order();
  if (nodes.empty()) return for_each(last(), visit);
  constexpr size_t kNodesAhead = 16, kChangesAhead = 8;
  const uint32_t upto = last();
  const Node* before = nullptr;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (i + kNodesAhead < nodes.size()) sql::prefetch(nodes[i + kNodesAhead]);
    if (i + kChangesAhead < nodes.size()) ask_for_change(*nodes[i + kChangesAhead]);
    const Node& node = *nodes[i];
    if (node.commit.load(std::memory_order_relaxed) > upto) continue;
    if (before != nullptr && before->has_key_of(node)) continue;
    before = &node;
    if (!visit(node.slot, node.change())) return false;
  }
  return true;
}

}  // namespace quire::engine
