#include "sql/run/shared_lookups.h"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "sql/value/json.h"

namespace quire::sql {

std::unique_ptr<SharedLookups> SharedLookups::begin(const Worker& own, const Access& access, WorkerPool& pool,
                                                    size_t threads, Text text) {
  auto shared = std::make_unique<SharedLookups>(pool);
  shared->text_ = text;
  shared->first_ = own.position;
  shared->workers_.push_back(own);
  while (shared->workers_.size() < threads) {
    Fork fork{.collection = own.collection.fork(), .cursor = nullptr};
    if (fork.collection == nullptr) return nullptr;
    auto cursor = fork.collection->open_beside(own.cursor, access);
    if (!cursor || *cursor == nullptr) return nullptr;
    fork.cursor = std::move(*cursor);
    shared->workers_.push_back({*fork.collection, *fork.cursor});
    shared->forks_.push_back(std::move(fork));
  }
  const auto work = [&lookups = *shared](size_t worker, size_t number, Part& part) {
    return lookups.look_up(lookups.workers_[worker], number, part);
  };
  if (!shared->parts_.begin(pool, threads, SIZE_MAX, work)) return nullptr;
  return shared;
}

SharedLookups::~SharedLookups() {
  parts_.stop();
  parts_.for_each([&](Part& part) { pool_.give_buffer(std::move(part.text)); });
}

Result<size_t> SharedLookups::next(std::span<Value> items) {
  while (taken_ == nullptr || given_ == taken_->items.size()) {
    if (taken_ != nullptr && taken_->error) return std::unexpected(*taken_->error);
    taken_ = parts_.take();
    given_ = last_given_ = 0;
    if (taken_ == nullptr) return size_t{0};
  }
  last_given_ = std::min(taken_->items.size() - given_, items.size());
  std::copy_n(taken_->items.begin() + static_cast<ptrdiff_t>(given_), last_given_, items.begin());
  given_ += last_given_;
  return last_given_;
}

std::span<const std::string_view> SharedLookups::texts() const noexcept {
  if (taken_ == nullptr) return {};
  const std::span<const std::string_view> all(taken_->texts);
  const size_t first = std::min(given_ - last_given_, all.size());
  return all.subspan(first, std::min(given_, all.size()) - first);
}

// A part that is not full is the last.
bool SharedLookups::look_up(Worker& worker, size_t number, Part& part) const noexcept {
  part.error.reset();
  part.texts.clear();
  try {
    part.items.resize(kItemsInPart);
    auto count = fill(worker, first_ + number * kItemsInPart, part.items);
    part.items.resize(count.value_or(0));
    if (!count) part.error = std::move(count.error());
    if (text_ != Text::none) write(worker, part);
  } catch (const std::bad_alloc&) {
    part.items.clear();
    part.error = no_memory_for_part();
  }
  return part.items.size() == kItemsInPart;
}

void SharedLookups::write(const Worker& worker, Part& part) const {
  if (part.text.capacity() <= std::string().capacity()) part.text = pool_.take_buffer();
  part.text.clear();
  std::array<size_t, kItemsInPart> ends;
  size_t count = 0;
  for (; count < part.items.size() && part.text.size() < kMostText; ++count) {
    const Value& item = part.items[count];
    text_ == Text::whole ? worker.collection.write_item(item, part.text) : write_json(item, part.text);
    ends[count] = part.text.size();
    part.text += '\0';  // as behind any other text that C gets
  }
  size_t begin = 0;
  for (const size_t end : std::span(ends).first(count)) {
    part.texts.push_back(std::string_view(part.text).substr(begin, end - begin));
    begin = end + 1;
  }
}

Result<size_t> SharedLookups::fill(Worker& worker, uint64_t begin, std::span<Value> items) const {
  while (worker.position < begin) {
    QUIRE_ASSIGN(const uint64_t skipped, worker.cursor.skip(begin - worker.position));
    if (skipped == 0) return size_t{0};
    worker.position += skipped;
  }
  QUIRE_ASSIGN(const size_t count, worker.cursor.next(items));
  worker.position += count;
  return count;
}

}  // namespace quire::sql
