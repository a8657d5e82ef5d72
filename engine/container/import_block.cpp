#include "engine/container/import_block.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace quire::engine {
namespace {

// Whether it is at the end of a line that something should follow: of an object over several lines, say.
bool is_at_line_end(const Error& error, const ImportText& text) {
  return error.code == ErrorCode::invalid_json && text.element == 0 &&
         error.position.offset > text.json.find_last_not_of(" \t\r\n");
}

// The error of one text, with its place in the whole input.
Error placed(Error error, const ImportText& text) {
  Position& position = error.position;
  if (is_at_line_end(error, text))
    error.message += ", but the line ends: an item stands on one line, or in an array";
  if (position.line <= 1) {
    position.column = text.start.column + std::max<uint32_t>(position.column, 1) - 1;
    position.line = text.start.line;
  } else {
    position.line += text.start.line - 1;
  }
  position.offset += text.start.offset;
  if (text.element != 0) error.message += fmt::format(" (element {} of the array)", text.element);
  return error;
}

}  // namespace

size_t longest_import_text(const ContainerDefinition& definition) {
  constexpr size_t kTextPerDocumentByte = 8;
  constexpr size_t kAllowance = size_t{64} << 10;
  return static_cast<size_t>(definition.item_limit_bytes) * kTextPerDocumentByte + kAllowance;
}

Result<ImportBlock> ImportBlock::make(Environment& environment, ContainerStore& store,
                                      const ImportOptions& options, ImportSorter::Lane& lane) {
  QUIRE_ASSIGN(ImportMapping mapping, ImportMapping::make(options));
  QUIRE_ASSIGN(DetachedEncoder encoder, DetachedEncoder::create(environment, store));
  QUIRE_ASSIGN(const ReadTransaction snapshot, environment.begin_read());
  QUIRE_ASSIGN(const Lifetime lifetime, store.lifetime(snapshot));
  return ImportBlock(store, lifetime, std::move(encoder), std::move(mapping),
                     options.generate_ids ? MissingId::make_one : MissingId::refuse, lane);
}

void ImportBlock::add(const ImportText& element) {
  elements_.push_back(element);
  elements_.back().json = arena_->copy_string(element.json);
  bytes_ += sizeof element + element.json.size();
}

void ImportBlock::encode() {
  for (const ImportText& element : elements_)
    if (!try_to_encode(element)) return;
  LineCutter cutter(lines_, longest_import_text(*definition_));
  for (ImportText line; cutter.next(line);)
    if (!try_to_encode(line)) return;
}

bool ImportBlock::try_to_encode(const ImportText& text) {
  auto encoded = encode(text);
  if (encoded) return true;
  errors_.push_back(placed(std::move(encoded.error()), text));
  return is_about_the_item(errors_.back());
}

Result<void> ImportBlock::encode(const ImportText& text) {
  if (text.is_too_long)
    return fail(
        ErrorCode::too_large,
        fmt::format(
            "the text of the item has more than {} bytes; the limit of container '{}' is {} for an item",
            longest_import_text(*definition_), definition_->name, definition_->item_limit_bytes));
  QUIRE_ASSIGN(const EncodedItem* const encoded, encode(text.json));
  if (lifetime_.is_on()) QUIRE_TRY(check_ttl(*encoded));
  const uint64_t number = text.element != 0 ? text.element : text.start.line;
  return lane_->add({encoded->key.bytes(), encoded->document, number, text.start.line});
}

Result<const EncodedItem*> ImportBlock::encode(std::string_view json) {
  if (mapping_.is_identity()) return encoder_.encode(json, missing_id_);
  QUIRE_ASSIGN(const sql::Value item, mapping_.map(json));
  return encoder_.encode(item, missing_id_);
}

// Told here, where the item's line is known and nothing has been written.
Result<void> ImportBlock::check_ttl(const EncodedItem& encoded) const {
  // By the encoder's names: those of a container that nobody has read since the file was opened are not
  // loaded.
  QUIRE_TRY(expiry_of(encoded.root.member("ttl"), 0, lifetime_));
  return {};
}

std::vector<Error> ImportBlock::take_errors() {
  elements_.clear();
  arena_->reset();
  lines_.size = 0;
  bytes_ = 0;
  return std::exchange(errors_, {});
}

}  // namespace quire::engine
