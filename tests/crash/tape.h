// What a run did to the files of one folder, call by call, and what it was told is done: enough to build
// every state in which a power cut could have left the folder.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/crash/system_calls.h"

namespace quire::tests {

// An entry of the tape. `file` numbers a file, whatever names it has.
struct TapeEntry {
  enum class Kind : uint8_t {
    created,      // file, name
    wrote,        // file, offset, text: the bytes
    wrote_sync,   // the same, by a call that waits for the disk, or to a descriptor that does
    truncated,    // file, offset: the new length
    synced,       // file
    folder_sync,  // the folder's names
    renamed,      // name, text: the new name
    unlinked,     // name
    note          // of the run itself: name says what, offset and text are its own
  };
  Kind kind;
  uint64_t file = 0;
  uint64_t offset = 0;
  std::string name;
  std::string text;
};

// A power cut may fall into it.
inline bool is_kill_point(const TapeEntry& entry) {
  return entry.kind != TapeEntry::Kind::note;
}

// Writes the tape while the run goes on. Lock files are left out: they mean nothing after a power cut.
class TapeRecorder final : public CallObserver {
 public:
  TapeRecorder(std::string folder, const std::string& tape_path);
  ~TapeRecorder() override;

  // Thread-safe; what was called before is on the tape before it.
  void note(std::string_view name, uint64_t number, std::string_view text = {});

  void opened(std::string_view path, int descriptor, int flags) override;
  void wrote(int descriptor, off_t offset, std::string_view bytes, bool waits) override;
  void synced(int descriptor) override;
  void truncated(int descriptor, off_t length) override;
  void renamed(std::string_view from, std::string_view to) override;
  void unlinked(std::string_view path) override;

 private:
  // The name within the folder; empty for what lies elsewhere, and for lock files.
  std::string_view name_in_folder(std::string_view path) const;
  bool find(int descriptor, uint64_t& file) const;
  void put(const TapeEntry& entry);
  void flush();

  std::string folder_;
  int tape_ = -1;
  std::string buffer_;
  std::set<uint64_t> files_;  // that are recorded, and the folder
};

std::vector<TapeEntry> read_tape(const std::string& path);

}  // namespace quire::tests
