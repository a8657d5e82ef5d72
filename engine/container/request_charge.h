// What Azure Cosmos DB would charge for a request, in request units (DIALECT.md, section 14): the published
// tables and what they leave open, all of it in request_charge.cpp. An estimate, but a steady one: the same
// request on the same data always costs the same.
#pragma once

#include <cstdint>

namespace quire::engine {

// Azure counts the bytes of an item's JSON. Its document is smaller by about a fifth (docs/file-format.md),
// save of long strings and repeated names (docs/request-units.md).
inline constexpr uint64_t json_bytes_of_document(uint64_t document_bytes) noexcept {
  return document_bytes + document_bytes / 4;
}

// A read by partition key and id; `json_bytes` 0: of an item that is not there.
double read_charge(uint64_t json_bytes) noexcept;

// `terms`: index entries that come and go.
double create_charge(uint64_t json_bytes, uint64_t terms) noexcept;
double replace_charge(uint64_t json_bytes, uint64_t terms) noexcept;
double delete_charge(uint64_t json_bytes, uint64_t terms) noexcept;
// What a patch costs beside its replace.
double patch_charge(uint64_t operations) noexcept;

// A call of a procedure, beside what it does.
double procedure_charge() noexcept;

// A query that has looked at so many items and given so many rows.
double query_charge(uint64_t items_read, uint64_t rows) noexcept;
// What the charge of a statement comes from. Rows are given all the time, and seldom does anybody ask what
// they cost so far: it is worked out then.
struct StatementCharge {
  double changes = 0;
  bool is_query = false;
  uint64_t items_read = 0, rows = 0;

  double units() const noexcept { return changes + (is_query ? query_charge(items_read, rows) : 0); }
};
// A change that a feed has given; 0: a look that found none.
double feed_charge(uint64_t json_bytes) noexcept;

}  // namespace quire::engine
