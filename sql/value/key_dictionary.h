// The names of a container's properties, numbered in the order in which they were first seen, so that a
// document holds 16-bit numbers in place of names. The dictionary only grows; a committed number is never
// reused. Past kMostNames, or for a name longer than kLongestName, a document carries the name inline, so
// hostile documents cannot grow it.
//
// Threads: one writer (the holder of the database's write lock) adds and truncates; any number of threads
// read. A reader resolves names after its snapshot has begun, so each number that its documents use is in
// place and stays. Numbers added by a transaction that rolls back are taken back by `truncate`: no committed
// document can hold them, so no reader misses them.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql/value/resolved_key.h"

namespace quire::sql {

class KeyDictionary {
 public:
  static constexpr size_t kMostNames = 4096;
  static constexpr size_t kLongestName = 64;
  static constexpr KeyNumber kInline = kInlineKey;

  // Takes a free dictionary number of the process; nullptr if all 65,535 are taken.
  static std::unique_ptr<KeyDictionary> create();
  ~KeyDictionary();
  KeyDictionary(const KeyDictionary&) = delete;
  KeyDictionary& operator=(const KeyDictionary&) = delete;

  // The dictionary of a number, or nullptr.
  static const KeyDictionary* of(DictionaryNumber number) noexcept;

  DictionaryNumber number() const noexcept { return number_; }
  size_t size() const noexcept { return size_.load(std::memory_order_acquire); }

  std::optional<KeyNumber> find(std::string_view name) const noexcept;
  // Empty view with nullptr data if there is no such number (a damaged document).
  std::string_view name(KeyNumber number) const noexcept {
    const Name* const name = entry(number);
    return name != nullptr ? std::string_view(name->text) : std::string_view();
  }
  // The same as it stands before a member's value in JSON: `"name":`; null if there is none. Whole steps of
  // kJsonNameStep bytes may be read, past its end too.
  const std::string_view* json_name(KeyNumber number) const noexcept {
    const Name* const name = entry(number);
    return name != nullptr ? &name->json : nullptr;
  }
  static constexpr size_t kJsonNameStep = 16;

  // Writer only. The number of a name, added if need be; kInline if it cannot be added.
  KeyNumber add(std::string_view name);
  // Writer only. Forgets every number from `size` on.
  void truncate(size_t size);
  // Writer only. While it is the same, each number that has been seen has its name; no other dictionary of
  // the process has it.
  uint64_t version() const noexcept { return version_; }

 private:
  struct Name {
    explicit Name(std::string_view name);
    std::string_view json;
    std::string text;
    std::string padded_json;  // and zeros behind it
  };

  explicit KeyDictionary(DictionaryNumber number);
  const Name* entry(KeyNumber number) const noexcept {
    return number < kMostNames ? names_[number].load(std::memory_order_acquire) : nullptr;
  }
  size_t first_place(std::string_view name) const noexcept;

  // Where the number of a name stands: at the first free place from that of its hash on, when it was added.
  // There is always a free one. Names are taken back in the reverse order of their coming, so that none that
  // stays stands behind a place that is given up.
  static constexpr size_t kPlaces = 2 * kMostNames;
  static constexpr KeyNumber kFree = kInline;

  DictionaryNumber number_;
  const uint64_t seed_;  // of hashes: nobody can choose names that share one
  uint64_t version_;
  std::atomic<size_t> size_ = 0;
  std::array<std::atomic<const Name*>, kMostNames> names_{};
  std::array<std::atomic<KeyNumber>, kPlaces> places_;
  // Those that names_ points to, kept until the dictionary ends, truncated ones too, since a reader may be
  // looking at them.
  std::vector<std::unique_ptr<const Name>> kept_;
};

}  // namespace quire::sql
