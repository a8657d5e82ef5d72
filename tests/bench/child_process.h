// Programs run by the benchmark: what they print, how long they take, how much memory they hold.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace quire::bench {

// What a program found on the PATH writes to standard output; fails where it exits with another code than 0.
std::string output_of(const std::vector<std::string>& command);
// The same into the file at `path`.
void run_into(const std::string& path, const std::vector<std::string>& command);
bool is_installed(const std::string& program);

// The most anonymous memory (RssAnon: the heap, but no mapped file pages) that a program held while it ran,
// in bytes, looked at every millisecond.
uint64_t peak_anonymous_memory_of(const std::vector<std::string>& command);

}  // namespace quire::bench
