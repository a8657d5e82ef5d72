// A stretch of an import's input, encoded by a thread of its own beside others.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "engine/container/container.h"
#include "engine/container/detached_encoder.h"
#include "engine/container/import_input.h"
#include "engine/container/import_mapping.h"
#include "engine/container/import_sorter.h"
#include "engine/file/environment.h"
#include "sql/error.h"
#include "sql/value/arena.h"

namespace quire::engine {

// Texts longer than this are refused unread: JSON may be several times longer than the document that it
// makes.
size_t longest_import_text(const ContainerDefinition& definition);

// Used by one thread at a time: filled, encoded, asked for errors. Keeps its buffers.
class ImportBlock {
 public:
  // The encoded items go to `lane`, which no other block may use.
  static Result<ImportBlock> make(Environment& environment, ContainerStore& store,
                                  const ImportOptions& options, ImportSorter::Lane& lane);

  // It is filled with lines, or with one element after the other.
  ImportLines& lines() noexcept { return lines_; }
  bool is_full() const noexcept { return bytes_ >= ImportLines::kBytes; }
  void add(const ImportText& element);
  // Stops at the first error that is not about an item, which is then the last of the errors.
  void encode();
  // Makes room for the next texts, and hands out what was wrong with the last: the places are those in the
  // whole input, the order too.
  std::vector<Error> take_errors();

 private:
  ImportBlock(ContainerStore& store, const Lifetime& lifetime, DetachedEncoder encoder, ImportMapping mapping,
              MissingId missing_id, ImportSorter::Lane& lane)
      : definition_(&store.definition()),
        lifetime_(lifetime),
        encoder_(std::move(encoder)),
        mapping_(std::move(mapping)),
        missing_id_(missing_id),
        lane_(&lane) {}
  // False where the rest of the block is of no use.
  bool try_to_encode(const ImportText& text);
  Result<void> encode(const ImportText& text);
  Result<const EncodedItem*> encode(std::string_view json);
  Result<void> check_ttl(const EncodedItem& encoded) const;

  const ContainerDefinition* definition_;
  Lifetime lifetime_;
  DetachedEncoder encoder_;
  ImportMapping mapping_;
  MissingId missing_id_;
  ImportSorter::Lane* lane_;
  ImportLines lines_;
  std::vector<ImportText> elements_;
  // Their texts. On the heap, so that blocks can be moved.
  std::unique_ptr<sql::Arena> arena_ = std::make_unique<sql::Arena>();
  size_t bytes_ = 0;
  std::vector<Error> errors_;
};

// Whether an import may go on without the item: the error is the client's, not the machine's.
inline bool is_about_the_item(const Error& error) {
  return error.status() == 400 || error.status() == 413;
}

}  // namespace quire::engine
