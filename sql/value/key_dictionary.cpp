#include "sql/value/key_dictionary.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <mutex>
#include <random>

#include "sql/value/json.h"

namespace quire::sql {
namespace {

// All dictionaries of the process by number, so that a 16-byte Value names its own with two bytes. Number 0
// stays empty.
constexpr size_t kMostDictionaries = 1 << 16;
constinit std::array<std::atomic<const KeyDictionary*>, kMostDictionaries> all_dictionaries{};
constinit std::mutex numbering;  // guards taking a number
constinit std::atomic<uint64_t> last_version = 0;
constinit size_t last_number = 0;  // numbers are taken in turn, so that a stale one is not soon another's

}  // namespace

KeyDictionary::Name::Name(std::string_view name) : text(name) {
  write_json_string(name, padded_json);
  padded_json += ':';
  const size_t bytes = padded_json.size();
  padded_json.resize((bytes + kJsonNameStep - 1) / kJsonNameStep * kJsonNameStep);
  json = std::string_view(padded_json).substr(0, bytes);
}

std::unique_ptr<KeyDictionary> KeyDictionary::create() {
  const std::lock_guard lock(numbering);
  for (size_t tried = 1; tried < kMostDictionaries; ++tried) {
    const size_t number = 1 + (last_number + tried - 1) % (kMostDictionaries - 1);
    if (all_dictionaries[number].load(std::memory_order_relaxed) != nullptr) continue;
    std::unique_ptr<KeyDictionary> dictionary(new KeyDictionary(static_cast<DictionaryNumber>(number)));
    all_dictionaries[number].store(dictionary.get(), std::memory_order_release);
    last_number = number;
    return dictionary;
  }
  return nullptr;
}

KeyDictionary::~KeyDictionary() {
  const std::lock_guard lock(numbering);
  all_dictionaries[number_].store(nullptr, std::memory_order_release);
}

const KeyDictionary* KeyDictionary::of(DictionaryNumber number) noexcept {
  return all_dictionaries[number].load(std::memory_order_acquire);
}

KeyDictionary::KeyDictionary(DictionaryNumber number)
    : number_(number), seed_(std::random_device()()), version_(++last_version) {
  for (auto& place : places_) place.store(kFree, std::memory_order_relaxed);
}

size_t KeyDictionary::first_place(std::string_view name) const noexcept {
  return XXH3_64bits_withSeed(name.data(), name.size(), seed_) % kPlaces;
}

std::optional<KeyNumber> KeyDictionary::find(std::string_view name) const noexcept {
  for (size_t place = first_place(name);; place = (place + 1) % kPlaces) {
    const KeyNumber number = places_[place].load(std::memory_order_acquire);
    if (number == kFree) return std::nullopt;
    // The number may have been taken back since, and be another name's by now.
    const Name* const known = entry(number);
    if (known != nullptr && known->text == name) return number;
  }
}

KeyNumber KeyDictionary::add(std::string_view name) {
  if (const auto found = find(name)) return *found;
  const size_t number = size_.load(std::memory_order_relaxed);
  if (number >= kMostNames || name.size() > kLongestName) return kInline;
  kept_.push_back(std::make_unique<const Name>(name));
  names_[number].store(kept_.back().get(), std::memory_order_release);
  size_t place = first_place(name);
  while (places_[place].load(std::memory_order_relaxed) != kFree) place = (place + 1) % kPlaces;
  places_[place].store(static_cast<KeyNumber>(number), std::memory_order_release);
  size_.store(number + 1, std::memory_order_release);
  return static_cast<KeyNumber>(number);
}

void KeyDictionary::truncate(size_t size) {
  if (size < size_.load(std::memory_order_relaxed)) version_ = ++last_version;
  while (size_.load(std::memory_order_relaxed) > size) {
    const size_t last = size_.load(std::memory_order_relaxed) - 1;
    size_t place = first_place(names_[last].load(std::memory_order_relaxed)->text);
    while (places_[place].load(std::memory_order_relaxed) != last) place = (place + 1) % kPlaces;
    places_[place].store(kFree, std::memory_order_release);
    names_[last].store(nullptr, std::memory_order_release);
    size_.store(last, std::memory_order_release);
  }
}

ResolvedKey resolve_key(std::string_view name, DictionaryNumber dictionary_number) {
  ResolvedKey key{name, dictionary_number};
  if (const KeyDictionary* dictionary = KeyDictionary::of(dictionary_number)) {
    if (const auto number = dictionary->find(name)) {
      key.number = *number;
      key.is_known = true;
    }
  }
  return key;
}

}  // namespace quire::sql
