#include "engine/file/known_places.h"

#include <xxhash.h>

#include <new>
#include <random>

#include "engine/file/large_pages.h"
#include "engine/file/page_layout.h"
#include "engine/file/page_view.h"

namespace quire::engine {
namespace {

// Fewer pages lie in a processor's caches.
constexpr uint64_t kLeastFilePages = 512;
// So often a commit's trees have to be asked for before it pays to note what is found in them.
constexpr uint64_t kReadsOfSettled = 512;

// A place in one word: its page, the offset (a multiple of 2), the node's number, and of the hash some bits
// that do not choose the line.
static_assert(layout::kLargestPage <= 1 << 15);
constexpr int kOffsetShift = 32, kNumberShift = 46, kTagShift = 58;

uint64_t tag_of(uint64_t hashed) noexcept {
  return hashed >> kTagShift << kTagShift;
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
  quire::engine::ask_for(reinterpret_cast<const char*>(&places_->line_of(hashed)));
}

std::optional<EntryPlace> TreePlaces::find(uint64_t hashed) const noexcept {
  for (const KnownPlaces::Slot& slot : places_->line_of(hashed).slots) {
    const uint64_t place = slot.place.load(std::memory_order_relaxed);
    const bool is_of_tree = slot.check.load(std::memory_order_relaxed) == (tree_ ^ scrambled(place));
    if (!is_of_tree || tag_of(place) != tag_of(hashed)) continue;
    return EntryPlace{.page = place & (KnownPlaces::kMostPages - 1),
                      .offset = static_cast<uint32_t>(place >> kOffsetShift & 0x3FFF) * 2,
                      .number = static_cast<uint32_t>(place >> kNumberShift & 0xFFF)};
  }
  return std::nullopt;
}

// In the place of what another commit's tree has left, if there is such.
void TreePlaces::note(uint64_t hashed, const EntryPlace& place) const noexcept {
  if (place.page >= KnownPlaces::kMostPages || place.number > 0xFFF) return;
  const uint64_t word = place.page | uint64_t{place.offset / 2} << kOffsetShift |
                        uint64_t{place.number} << kNumberShift | tag_of(hashed);
  KnownPlaces::Line& line = places_->line_of(hashed);
  KnownPlaces::Slot* taken = &line.slots[hashed >> 56 & 3];
  for (KnownPlaces::Slot& slot : line.slots) {
    const uint64_t known = slot.place.load(std::memory_order_relaxed);
    const uint64_t tree = slot.check.load(std::memory_order_relaxed) ^ scrambled(known);
    if (tree >> 32 != tree_ >> 32) taken = &slot;
  }
  taken->place.store(word, std::memory_order_relaxed);
  taken->check.store(tree_ ^ scrambled(word), std::memory_order_relaxed);
}

KnownPlaces::KnownPlaces() : seed_(random_seed()) {}

KnownPlaces::~KnownPlaces() {
  for (Line* const page : pages_)
    if (page != nullptr) give_back_large_page(page);
}

// What two threads count at once may be lost, and the counting begin anew where commits are read in turns.
bool KnownPlaces::settle(uint64_t commit, uint64_t pages) noexcept {
  if (pages < kLeastFilePages || commit >= kMostCommits) return false;
  uint64_t count = 1;
  if (counted_commit_.load(std::memory_order_relaxed) == commit)
    count += counted_.load(std::memory_order_relaxed);
  else
    counted_commit_.store(commit, std::memory_order_relaxed);
  counted_.store(count, std::memory_order_relaxed);
  if (count < kReadsOfSettled) return false;
  std::call_once(is_made_, [this] { has_lines_ = make_lines(); });
  if (!has_lines_) return false;
  settled_commit_.store(commit, std::memory_order_release);
  return true;
}

bool KnownPlaces::make_lines() noexcept {
  static_assert(sizeof(Line) == kMemoryLine && sizeof pages_ / sizeof pages_[0] * kLargePage == kBytes);
  for (Line*& page : pages_) {
    void* const memory = take_large_page();
    if (memory == nullptr) return false;
    page = new (memory) Line[kLargePage / sizeof(Line)]();
  }
  return true;
}

KnownPlaces::Line& KnownPlaces::line_of(uint64_t hashed) const noexcept {
  constexpr uint64_t kLinesOfPage = kLargePage / sizeof(Line);
  return pages_[hashed / kLinesOfPage % pages_.size()][hashed % kLinesOfPage];
}

}  // namespace quire::engine
