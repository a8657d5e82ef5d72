// The lines of a file of NDJSON.
#pragma once

#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "tests/bench/must.h"

namespace quire::bench {

// Each line of the file; they are views into a buffer.
template <typename Act>
void for_each_line(const std::string& path, Act act) {
  const File file = open_file(path, "rb");
  std::vector<char> buffer(size_t{1} << 20);
  size_t kept = 0;
  while (const size_t count = std::fread(buffer.data() + kept, 1, buffer.size() - kept, file.get())) {
    std::string_view text(buffer.data(), kept + count);
    for (size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
      act(text.substr(0, end));
      text.remove_prefix(end + 1);
    }
    std::memmove(buffer.data(), text.data(), text.size());
    kept = text.size();
  }
}

}  // namespace quire::bench
