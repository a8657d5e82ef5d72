#include "engine/file/known_places.h"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <new>
#include <random>

#include "engine/file/large_pages.h"
#include "engine/file/page_layout.h"
#include "engine/file/page_view.h"

namespace quire::engine {
namespace {

// Fewer pages lie in a processor's caches.
constexpr uint64_t kLeastFilePages = 512;
// A block has room for the places of about so many pages' entries.
constexpr uint64_t kFilePagesOfBlock = 16'384;
// So often a commit's trees have to be asked for before it pays to note what is found in them.
constexpr uint64_t kReadsOfSettled = 512;

// A place in one word: its page, the offset (a multiple of 2), the node's number, and of the hash some bits
// that do not choose the bucket.
static_assert(layout::kLargestPage <= 1 << 15);
constexpr int kOffsetShift = 28, kNumberShift = 42, kSlotShift = 51, kTagShift = 54;
constexpr size_t kSlotsOfLine = 4;

uint64_t tag_of(uint64_t hashed) noexcept {
  return hashed >> kTagShift << kTagShift;
}

// The line of a bucket that is looked at first, so that mostly but one is waited for.
size_t first_slot(uint64_t hashed) noexcept {
  return hashed >> kSlotShift & kSlotsOfLine;
}

uint64_t scrambled(uint64_t place) noexcept {
  const uint64_t mixed = place * 0x9E3779B97F4A7C15;
  return mixed ^ mixed >> 32;
}

uint64_t random_seed() {
  std::random_device device;
  return uint64_t{device()} << 32 | device();
}

}  // namespace

uint64_t TreePlaces::hash(Bytes wanted) const noexcept {
  return XXH3_64bits_withSeed(wanted.data(), wanted.size(), places_->seed_ ^ tree_);
}

void TreePlaces::ask_for(uint64_t hashed) const noexcept {
  quire::engine::ask_for(reinterpret_cast<const char*>(&places_->bucket_of(hashed)), 2);
}

std::optional<EntryPlace> TreePlaces::find(uint64_t hashed) const noexcept {
  KnownPlaces::Bucket& bucket = places_->bucket_of(hashed);
  for (size_t i = 0; i < bucket.slots.size(); ++i) {
    const KnownPlaces::Slot& slot = bucket.slots[i ^ first_slot(hashed)];
    const uint64_t place = slot.place.load(std::memory_order_relaxed);
    if (tag_of(place ^ hashed) != 0) continue;
    if (slot.check.load(std::memory_order_relaxed) != (tree_ ^ scrambled(place))) continue;
    return EntryPlace{.page = place & (KnownPlaces::kMostPages - 1),
                      .offset = static_cast<uint32_t>(place >> kOffsetShift & 0x3FFF) * 2,
                      .number = static_cast<uint32_t>(place >> kNumberShift & 0xFFF)};
  }
  return std::nullopt;
}

// In the place of what find() would give, else of what another commit's tree has left, else of one that is
// as good as any: a lead and what led there do not take each other's.
void TreePlaces::note(uint64_t hashed, const EntryPlace& place) const noexcept {
  if (place.page >= KnownPlaces::kMostPages || place.number > 0xFFF) return;
  const uint64_t word = place.page | uint64_t{place.offset / 2} << kOffsetShift |
                        uint64_t{place.number} << kNumberShift | tag_of(hashed);
  KnownPlaces::Bucket& bucket = places_->bucket_of(hashed);
  const uint64_t any = (hashed >> kSlotShift ^ ((tree_ & kLeads) != 0 ? 1 : 0)) % kSlotsOfLine;
  KnownPlaces::Slot* taken = &bucket.slots[any ^ first_slot(hashed)];
  bool is_free = false;
  for (size_t i = 0; i < bucket.slots.size(); ++i) {
    KnownPlaces::Slot& slot = bucket.slots[i ^ first_slot(hashed)];
    const uint64_t known = slot.place.load(std::memory_order_relaxed);
    const uint64_t tree = slot.check.load(std::memory_order_relaxed) ^ scrambled(known);
    if (tree == tree_ && tag_of(known ^ hashed) == 0) {
      taken = &slot;
      break;
    }
    if (is_free || tree >> 32 == tree_ >> 32) continue;
    taken = &slot;
    is_free = true;
  }
  taken->place.store(word, std::memory_order_relaxed);
  taken->check.store(tree_ ^ scrambled(word), std::memory_order_relaxed);
}

KnownPlaces::KnownPlaces() : seed_(random_seed()) {}

KnownPlaces::~KnownPlaces() {
  for (Bucket* const block : blocks_)
    if (block != nullptr) give_back_large_page(block);
}

// What two threads count at once may be lost, and the counting begin anew where commits are read in turns.
bool KnownPlaces::settle(uint64_t commit, uint64_t pages) noexcept {
  if (pages < kLeastFilePages || commit >= TreePlaces::kMostCommits) return false;
  uint64_t count = 1;
  if (counted_commit_.load(std::memory_order_relaxed) == commit)
    count += counted_.load(std::memory_order_relaxed);
  else
    counted_commit_.store(commit, std::memory_order_relaxed);
  counted_.store(count, std::memory_order_relaxed);
  if (count < kReadsOfSettled) return false;
  if (!take_buckets(pages)) return false;
  settled_commit_.store(commit, std::memory_order_release);
  return true;
}

// With more of them most places are looked for elsewhere than where they were noted: those of a commit
// before.
bool KnownPlaces::take_buckets(uint64_t pages) noexcept {
  static_assert(sizeof(Bucket) == 2 * kMemoryLine &&
                sizeof blocks_ / sizeof blocks_[0] * kLargePage == kMostBytes);
  const uint64_t wanted = std::clamp<uint64_t>(std::bit_ceil(pages / kFilePagesOfBlock), 1, blocks_.size());
  const std::scoped_lock lock(taking_);
  for (uint64_t i = 0; i < wanted; ++i) {
    if (blocks_[i] != nullptr) continue;
    void* const memory = take_large_page();
    if (memory == nullptr) break;
    blocks_[i] = new (memory) Bucket[kBucketsOfBlock]();
    if (std::has_single_bit(i + 1)) buckets_.store((i + 1) * kBucketsOfBlock, std::memory_order_release);
  }
  return buckets_.load(std::memory_order_relaxed) != 0;
}

KnownPlaces::Bucket& KnownPlaces::bucket_of(uint64_t hashed) const noexcept {
  const uint64_t number = hashed & (buckets_.load(std::memory_order_acquire) - 1);
  return blocks_[number / kBucketsOfBlock][number % kBucketsOfBlock];
}

}  // namespace quire::engine
