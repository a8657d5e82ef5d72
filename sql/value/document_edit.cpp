#include "sql/value/document_edit.h"

#include <cstring>
#include <optional>

#include "sql/value/document.h"
#include "sql/value/document_layout.h"

namespace quire::sql {

bool DocumentEdit::seek(std::span<const std::string_view> names) {
  if (names.empty() || names.size() > kMostLevels || document_.size() > UINT32_MAX) return false;
  depth_ = 0;
  start_ = 0, bytes_ = static_cast<uint32_t>(document_.size());
  for (const std::string_view name : names) {
    const std::span<const std::byte> bytes = bytes_at(start_, bytes_);
    if (bytes.empty() || !layout::is_object_tag(static_cast<uint8_t>(bytes[0]))) return false;
    const layout::Container object(bytes, true);
    const std::optional<KeyNumber> key = dictionary_.find(name);
    if (!key || object.has_inline_names()) return false;
    const uint32_t member = object.find(*key);
    if (member == object.count()) return false;
    const std::span<const std::byte> slice = object.slice(member);
    if (slice.empty()) return false;
    levels_[depth_++] = {.start = start_, .bytes = bytes_, .member = member};
    start_ += static_cast<uint32_t>(slice.data() - bytes.data());
    bytes_ = static_cast<uint32_t>(slice.size());
  }
  return true;
}

Value DocumentEdit::value() const noexcept {
  return read_document(bytes_at(start_, bytes_), dictionary_.number());
}

bool DocumentEdit::overwrite(const Value& scalar) {
  if (scalar.is_array() || scalar.is_object() || scalar.is_undefined()) return false;
  scalar_.clear();
  if (!encode_value(scalar, dictionary_, scalar_)) return false;
  const int64_t more = static_cast<int64_t>(scalar_.size()) - bytes_;
  const std::span<Level> levels = std::span(levels_).first(depth_);
  if (more != 0) {
    for (const Level& level : levels)
      if (!keeps_form(level, more)) return false;
    for (Level& level : levels) {
      move_offsets(level, more);
      level.bytes = static_cast<uint32_t>(level.bytes + more);
    }
  }
  document_.replace(start_, bytes_, scalar_);
  bytes_ = static_cast<uint32_t>(scalar_.size());
  return true;
}

// As the document's writer chooses it (document_header::form_of).
bool DocumentEdit::keeps_form(const Level& level, int64_t more) const noexcept {
  const layout::Container object(bytes_at(level.start, level.bytes), true);
  const int64_t bytes = level.bytes + more;
  switch (object.offset_bytes()) {
    case 1:
      return bytes <= layout::kMostNarrowBytes;
    case 2:  // the writer counts two bytes a key before it knows better
      return bytes + object.count() <= layout::kMostSmallBytes &&
             bytes - (int64_t{object.count()} + 1) > layout::kMostNarrowBytes;
    default:
      return object.count() > layout::kMostSmallCount && bytes <= UINT32_MAX;
  }
}

// Of what lies behind the member, and of the end.
void DocumentEdit::move_offsets(const Level& level, int64_t more) noexcept {
  const layout::Container object(bytes_at(level.start, level.bytes), true);
  for (uint32_t i = level.member + 1; i <= object.count(); ++i) {
    char* const at = document_.data() + level.start + object.place_of_offset(i);
    uint32_t offset = 0;
    std::memcpy(&offset, at, object.offset_bytes());
    offset = static_cast<uint32_t>(offset + more);
    std::memcpy(at, &offset, object.offset_bytes());
  }
}

}  // namespace quire::sql
