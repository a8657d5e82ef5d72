// A database file with damage upon damage: each 8 bytes of the input are one of the ways of
// tests/damage/mutation.h. Opened as one from a stranger, and put to every use, it must not crash.
#include <stdlib.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "tests/damage/mutation.h"
#include "tests/damage/probe.h"
#include "tests/damage/sample_file.h"
#include "tests/file_bytes.h"

namespace {

constexpr size_t kWord = sizeof(uint64_t);
constexpr size_t kMostWords = 8;
// Few, so that a run is short; enough for trees of two levels.
constexpr int kItems = 120;

class Place {
 public:
  Place() {
    const bool has_memory = std::filesystem::is_directory("/dev/shm");
    std::string path = has_memory ? "/dev/shm" : std::filesystem::temp_directory_path().string();
    path += "/quire-fuzz-XXXXXX";
    if (mkdtemp(path.data()) == nullptr) std::abort();
    path_ = path;
    make(closed_, quire::tests::SampleState::closed);
    make(left_open_, quire::tests::SampleState::left_open);
  }
  ~Place() { std::filesystem::remove_all(path_); }

  const std::string& sample(bool is_closed) const { return is_closed ? closed_ : left_open_; }
  // A file of these bytes, and none beside it.
  std::string write(const std::string& bytes) const {
    const std::filesystem::path folder = path_ / "run";
    std::filesystem::remove_all(folder);
    std::filesystem::create_directory(folder);
    const std::filesystem::path file = folder / "a.quire";
    std::ofstream(file, std::ios::binary) << bytes;
    return file.string();
  }

 private:
  void make(std::string& bytes, quire::tests::SampleState state) const {
    const std::string sample = (path_ / "sample.quire").string();
    if (!quire::tests::make_sample_file(sample, kItems, state)) std::abort();
    bytes = quire::tests::file_bytes(sample);
    std::filesystem::remove(sample);
    std::filesystem::remove(sample + "-lock");
  }

  std::filesystem::path path_;
  std::string closed_, left_open_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Place place;
  std::string bytes = place.sample(size == 0 || data[0] % 4 != 3);
  for (size_t at = 0; at + kWord <= size && at < kMostWords * kWord; at += kWord) {
    uint64_t seed;
    std::memcpy(&seed, data + at, kWord);
    quire::tests::mutate(bytes, seed);
  }
  if (!quire::tests::probe_file(place.write(bytes), false)) std::abort();
  return 0;
}

// Another way to damage the file, or one less, or one in the place of another.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  std::mt19937_64 random(seed);
  size_t words = size / kWord;
  const bool can_grow = words < kMostWords && (words + 1) * kWord <= most;
  if (can_grow && (words == 0 || random() % 2 == 0))
    ++words;
  else if (words > 1 && random() % 3 == 0)
    --words;
  if (words == 0) return size;
  const size_t at = random() % 2 == 0 ? words - 1 : random() % words;
  const uint64_t word = random();
  std::memcpy(data + at * kWord, &word, kWord);
  return words * kWord;
}
