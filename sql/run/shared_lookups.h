// The items that entries of indexes lead to, looked up by several threads. Each has a cursor of its own, goes
// past the items that others take, which costs little, and looks up the next ones. They come in the order of
// one cursor. Where the items are the rows, and these are read as JSON, the threads write that as well: it
// takes about as long as finding them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql/run/shared_parts.h"
#include "sql/source.h"

namespace quire::sql {

class SharedLookups final : public Cursor {
 public:
  // What is written of the items: nothing, their own members, or the system properties as well.
  enum class Text : uint8_t { none, members, whole };
  struct Worker {
    Collection& collection;
    Cursor& cursor;
    uint64_t position = 0;  // items that are behind it
  };

  // `own` is the caller's part in the work; the other threads begin at the first item, in the same snapshot.
  // Null where there are no threads to be had, or no snapshots for them: then nothing has happened. The pool
  // must outlive it.
  static std::unique_ptr<SharedLookups> begin(const Worker& own, const Access& access, WorkerPool& pool,
                                              size_t threads, Text text);
  explicit SharedLookups(WorkerPool& pool) noexcept : pool_(pool) {}
  ~SharedLookups() override;

  Result<size_t> next(std::span<Value> items) override;
  // The JSON of the items that next() has just given, good until it is called again; there may be fewer than
  // items.
  std::span<const std::string_view> texts() const noexcept;

 private:
  static constexpr size_t kItemsInPart = 32;
  static constexpr size_t kMostText = size_t{64} << 10;  // a part; what is behind it is left to the caller

  struct Part {
    std::vector<Value> items;
    std::string text;  // of the first items, one behind the other
    std::vector<std::string_view> texts;
    std::optional<Error> error;
  };
  // Of a thread, in a snapshot of its own.
  struct Fork {
    std::unique_ptr<Collection> collection;
    std::unique_ptr<Cursor> cursor;
  };

  bool look_up(Worker& worker, size_t number, Part& part) const noexcept;
  Result<size_t> fill(Worker& worker, uint64_t begin, std::span<Value> items) const;
  void write(const Worker& worker, Part& part) const;

  WorkerPool& pool_;
  Text text_ = Text::none;
  uint64_t first_ = 0;  // item of the first part
  std::vector<Fork> forks_;
  std::vector<Worker> workers_;
  const Part* taken_ = nullptr;
  size_t given_ = 0;  // of its items
  size_t last_given_ = 0;
  SharedParts<Part> parts_;
};

}  // namespace quire::sql
