#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace quire::tests {

// All that a file holds, or nothing where it cannot be read. In one read: by iterators it is a call for each
// byte, which under a sanitizer takes seconds for a database.
inline std::string file_bytes(const std::filesystem::path& path) {
  std::error_code error;
  const uintmax_t size = std::filesystem::file_size(path, error);
  if (error) return {};
  std::string bytes(size, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<size_t>(file.gcount()));
  return bytes;
}

}  // namespace quire::tests
