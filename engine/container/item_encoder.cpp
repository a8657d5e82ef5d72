#include "engine/container/item_encoder.h"

#include <fmt/format.h>

#include <algorithm>

namespace quire::engine {
namespace {

// No JSON text is so much longer than its document, white space aside: longer ones are refused before
// parsing.
constexpr size_t kMostTextPerDocumentByte = 8;
constexpr size_t kTextAllowance = size_t{64} << 10;

std::string quoted_id(std::string_view id) {
  return id.empty() ? "the item" : fmt::format("item '{}'", shortened(id, kLongestShownId));
}

}  // namespace

Result<const EncodedItem*> ItemEncoder::encode(std::string_view json, MissingId missing_id) {
  if (json.size() / kMostTextPerDocumentByte > definition_->item_limit_bytes + kTextAllowance)
    return std::unexpected(check_size(json.size(), {}).error());
  QUIRE_ASSIGN(const Bytes document, reader_.to_document(json, *dictionary_));
  return finish(document, missing_id);
}

Result<const EncodedItem*> ItemEncoder::encode(const sql::Value& item, MissingId missing_id) {
  document_.clear();
  QUIRE_TRY(sql::encode_value(item, *dictionary_, document_));
  return finish(document_, missing_id);
}

Result<const EncodedItem*> ItemEncoder::encode(const ChangedItem& item, MissingId /*it has one*/) {
  QUIRE_TRY(check_size(item.document.size(), item.id));
  set_document(item.document);
  item_.key = item.key;
  item_.id = item.id;
  item_.partition_key.size = item.partition_key.size();
  std::ranges::copy(item.partition_key, item_.partition_key.values.begin());
  return &item_;
}

void ItemEncoder::set_document(Bytes document) noexcept {
  item_.document = document;
  item_.root = sql::read_document(std::as_bytes(std::span(document)), dictionary_->number());
}

Result<void> ItemEncoder::check_size(size_t bytes, std::string_view id) const {
  if (bytes <= definition_->item_limit_bytes) return {};
  return fail(ErrorCode::too_large,
              fmt::format("{} has {} bytes; the limit of container '{}' is {}", quoted_id(id), bytes,
                          definition_->name, definition_->item_limit_bytes));
}

Result<void> ItemEncoder::rewrite() {
  const sql::Value root = item_.root;
  const Uuid new_id = make_uuid();
  members_.clear();
  if (keys_->id_of(root).is_undefined()) members_.push_back({"id", sql::Value::string(new_id.view())});
  for (uint32_t i = 0; i < root.size(); ++i)
    if (const sql::Member member = root.member_at(i); !FixedKeys::is_system_property(member.name))
      members_.push_back(member);
  rewritten_.clear();
  QUIRE_TRY(sql::encode_value(sql::Value::object(members_), *dictionary_, rewritten_));
  set_document(rewritten_);
  return {};
}

Result<const EncodedItem*> ItemEncoder::finish(Bytes document, MissingId missing_id) {
  EncodedItem& item = item_;
  set_document(document);
  if (!item.root.is_object()) return fail(ErrorCode::invalid_argument, "an item must be a JSON object");
  sql::Value id = keys_->id_of(item.root, places_);
  const bool lacks_id = id.is_undefined();
  if (lacks_id && missing_id == MissingId::refuse)
    return fail(ErrorCode::invalid_id,
                "the item has no \"id\"; name the property to take it from, or have ids made");
  if (lacks_id && missing_id == MissingId::refuse_in_replace)
    return fail(ErrorCode::invalid_id,
                "the item has no \"id\"; a replace needs it to tell which item to replace");
  if (lacks_id || keys_->has_system_property(item.root)) {
    QUIRE_TRY(rewrite());
    id = keys_->id_of(item.root);
  }
  QUIRE_TRY(check_item_id(id));
  item.id = id.as_string();
  QUIRE_TRY(check_size(item.document.size(), item.id));
  item.partition_key = keys_->partition_key_of(item.root, places_);
  if (auto checked = check_partition_key(item.partition_key, definition_->partition_key_paths); !checked) {
    checked.error().message += fmt::format(" (item '{}')", item.id);
    return std::unexpected(std::move(checked.error()));
  }
  item.key.assign(item.partition_key, item.id, hash_);
  return &item;
}

}  // namespace quire::engine
