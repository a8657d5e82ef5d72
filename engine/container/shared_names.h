// The property names of a container, as this process knows them.
//
// A container may have several ContainerStores: who has opened it keeps the one of that time when its
// definition changes, and another database that is open on the file has one of its own. They write in one
// commit group, even in one transaction, and there each must know the names that another has added, which no
// commit holds yet. So they have one dictionary together.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "engine/container/fixed_keys.h"
#include "engine/file/environment.h"
#include "sql/value/key_dictionary.h"

namespace quire::engine {

struct SharedNames {
  SharedNames(const ContainerDefinition& first, std::unique_ptr<sql::KeyDictionary> made)
      : definition(first), dictionary(std::move(made)), keys(definition, *dictionary) {}

  // Those of the container with this table of names; limit_exceeded.
  static Result<std::shared_ptr<SharedNames>> of(const Environment& environment, Table names,
                                                 const ContainerDefinition& definition) {
    auto shared = environment.share<SharedNames>(names, [&]() -> std::shared_ptr<SharedNames> {
      auto dictionary = sql::KeyDictionary::create();
      if (dictionary == nullptr) return nullptr;
      return std::make_shared<SharedNames>(definition, std::move(dictionary));
    });
    if (shared == nullptr)
      return fail(ErrorCode::limit_exceeded, "this process has 65,535 containers open: too many");
    return shared;
  }

  const ContainerDefinition definition;  // one of those that there have been; `keys` has its texts
  const std::unique_ptr<sql::KeyDictionary> dictionary;
  const FixedKeys keys;  // the same by every definition
  std::mutex loading;    // held while what other transactions have made is loaded
};

}  // namespace quire::engine
