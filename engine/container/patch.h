// Patch (DIALECT.md, section 11): up to ten operations on the parts of an item, in order, all or none.
//
//   add      creates or overwrites a member; in an array it inserts, moving what follows; "-" appends
//   set      the same, but an element that is there is overwritten
//   replace  overwrites what is there
//   remove   takes away what is there; an array closes up
//   incr     adds to a number; what is not there is created with the value
//   move     removes what is at "from" and adds it at "path"
//
// Paths are JSON Pointers. The id, the partition key and the properties that the database sets stay as they
// are. An operation that cannot be done is an error that names it, by its number from 1.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "engine/catalog/container_definition.h"
#include "sql/error.h"
#include "sql/value/arena.h"
#include "sql/value/key_dictionary.h"
#include "sql/value/value.h"

namespace quire::engine {

inline constexpr size_t kMostPatchOperations = 10;

enum class PatchKind : uint8_t { add, set, replace, remove, increment, move };

struct PatchOperation {
  PatchKind kind;
  std::string_view word;  // its "op"
  std::string_view path;  // as it was given
  std::span<const std::string_view> steps;
  std::span<const std::string_view> from;  // move
  sql::Value value;                        // undefined for remove and move
};

class Patch {
 public:
  // `operations`: an array of {"op", "path", "value" or "from"}. It and `arena` must outlive the patch.
  // invalid_argument, saying which operation is wrong, also for paths that `definition` forbids.
  static Result<Patch> read(const sql::Value& operations, const ContainerDefinition& definition,
                            sql::Arena& arena);

  // The item as it will be, built in the patch's arena over the values of `item` and of the operations.
  // invalid_argument.
  Result<sql::Value> apply(const sql::Value& item) const;
  // The same in the bytes of the item's document, where each operation but puts a scalar in the place of a
  // value. False, and the bytes of no use any more, where one does more or cannot be done.
  bool apply_within(std::string& document, sql::KeyDictionary& dictionary) const;
  size_t size() const noexcept { return operations_.size(); }

 private:
  Patch(std::span<const PatchOperation> operations, sql::Arena& arena)
      : operations_(operations), arena_(&arena) {}

  std::span<const PatchOperation> operations_;
  sql::Arena* arena_;
};

// The body of a patch as Cosmos sends it: {"condition": "FROM c WHERE ...", "operations": [...]}, or the
// operations alone.
struct PatchBody {
  std::string_view condition;  // empty: none
  sql::Value operations;
};
// invalid_argument. Borrows from `body`.
Result<PatchBody> read_patch_body(const sql::Value& body);

}  // namespace quire::engine
