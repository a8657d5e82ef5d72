// A benchmark that fails has no result: what goes wrong is thrown, told by main, and the program ends.
#pragma once

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "quire/quire.hpp"

namespace quire::bench {

inline void must(bool is_right, std::string_view otherwise) {
  if (!is_right) throw std::runtime_error(std::string(otherwise));
}

template <typename T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error("quire: " + result.error().message);
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

struct CloseFile {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;
inline File open_file(const std::string& path, const char* mode) {
  File file(std::fopen(path.c_str(), mode));
  must(file != nullptr, "cannot open " + path);
  return file;
}

}  // namespace quire::bench
