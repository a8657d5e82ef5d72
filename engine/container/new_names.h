// Names that a write adds to a container's dictionary before it is known whether it succeeds.
#pragma once

#include <cstddef>

#include "sql/value/key_dictionary.h"

namespace quire::engine {

// Takes back at its end what was added since its beginning, unless it is kept. Writer only.
class NewNames {
 public:
  explicit NewNames(sql::KeyDictionary& dictionary) : dictionary_(dictionary), before_(dictionary.size()) {}
  ~NewNames() {
    if (!is_kept_ && dictionary_.size() > before_) dictionary_.truncate(before_);
  }
  NewNames(const NewNames&) = delete;
  NewNames& operator=(const NewNames&) = delete;
  size_t before() const noexcept { return before_; }
  void keep() noexcept { is_kept_ = true; }

 private:
  sql::KeyDictionary& dictionary_;
  size_t before_;
  bool is_kept_ = false;
};

}  // namespace quire::engine
