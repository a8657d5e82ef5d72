// How the system reads pages of a file's map that are not in memory. By itself it brings the neighbours of a
// page along, as many as the device is set to: 128 KB as a rule, here and there 8 MB. A file that fits into
// memory is soon there as a whole. Of one that does not, each page that is wanted pushes out those that
// others want (with 512 MB for a file of 1.1 GB, point reads went at 6,600 to 10,300 a second with 128 KB and
// at 230 with 8 MB, SQLite's at 11,000): such a file is read exactly, and who walks it asks for what comes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace quire::engine {

// Half of the memory that this process may use, of the machine's or of what a container has: the size of a
// file up to which the system reads ahead, and the most that a statement holds unless it was told. Looked up
// once.
uint64_t half_of_memory();

// The least limit of the control groups (cgroups) in `membership`, as /proc/self/cgroup has them, and of
// those around them, mounted below `mounted`; UINT64_MAX for none.
uint64_t memory_limit(const std::string& membership, const std::string& mounted);

// Hints, for mapped bytes; the two of a whole map hold until the other one is given.
void read_exactly(const char* map, size_t bytes) noexcept;
void read_ahead(const char* map, size_t bytes) noexcept;
// Whether this thread has waited for the disk of late: else all is in memory, and asking for it not worth the
// calls. Some 200 ns, or a few while it has.
bool has_waited_for_disk() noexcept;
// Has them read from the disk meanwhile.
void ask_disk_for(const char* begin, size_t bytes) noexcept;

}  // namespace quire::engine
