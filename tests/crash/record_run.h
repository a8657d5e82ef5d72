// A run of several writers, on tape.
#pragma once

#include <cstdint>
#include <string>

namespace quire::tests {

inline constexpr int kWriters = 3;
inline constexpr const char* kDatabaseName = "crash.quire";

// What a run notes on its tape; `offset` is the number, `text` what else.
inline constexpr const char* kOpened = "opened";  // the database, for the first time
inline constexpr const char* kBegins = "begins";  // a writer begins a step: text is its number and the
                                                  // fingerprint of what it holds after it
inline constexpr const char* kDone = "done";      // the writer was told that the step is done
inline constexpr const char* kBackup = "backup";  // the writer was told that its backup is done
inline constexpr const char* kNoBackup = "no backup";
inline constexpr const char* kRelaxed = "relaxed";  // 1: commits need not be on the disk from now on
inline constexpr const char* kSafe = "safe";        // all that is done is on the disk

// Runs in a process of its own, which ends here with 0, or with 1 after a message: opens the database in
// `folder` (which is empty), lets each writer take `steps` steps with every commit on the disk, compacts the
// file, lets them go on with relaxed durability, and closes.
[[noreturn]] void record_run(const std::string& folder, const std::string& tape_path, uint64_t steps,
                             uint64_t seed);

}  // namespace quire::tests
