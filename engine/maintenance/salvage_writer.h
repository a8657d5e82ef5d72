// Writes salvaged items into a container of the new file, in batches.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/container/container.h"
#include "engine/container/detached_encoder.h"
#include "engine/file/environment.h"
#include "engine/maintenance/lost_container.h"
#include "sql/error.h"

namespace quire::engine {

// Whether an error comes from what was salvaged (an item, a definition), and not from the new file or from
// this machine: the first is left out and told of, the second ends the recovery.
bool is_of_salvage(const Error& error) noexcept;

class SalvageWriter {
 public:
  static Result<SalvageWriter> create(Environment& environment, std::shared_ptr<ContainerStore> store);

  // An item whose key is there already is left out.
  Result<void> add(const SalvagedItem& item);
  // What is still in the batch.
  Result<void> flush();

  uint64_t written() const noexcept { return written_; }
  // Items that the new container does not take, and why the first of them.
  uint64_t refused() const noexcept { return refused_; }
  const std::string& first_refusal() const noexcept { return first_refusal_; }

 private:
  struct Waiting {
    std::string key, document;
    uint32_t timestamp;
  };
  SalvageWriter(Environment& environment, std::shared_ptr<ContainerStore> store, DetachedEncoder encoder)
      : environment_(&environment), store_(std::move(store)), encoder_(std::move(encoder)) {}
  void refuse(const Error& error);

  Environment* environment_;
  std::shared_ptr<ContainerStore> store_;  // shared with the encoder's container
  DetachedEncoder encoder_;
  std::vector<Waiting> batch_;
  size_t batch_bytes_ = 0;
  uint64_t written_ = 0;
  uint64_t refused_ = 0;
  std::string first_refusal_;
};

}  // namespace quire::engine
