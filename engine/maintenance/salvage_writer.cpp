#include "engine/maintenance/salvage_writer.h"

#include <utility>

#include "engine/container/bulk_writer.h"

namespace quire::engine {
namespace {

constexpr size_t kCommitBytes = size_t{16} << 20;

}  // namespace

bool is_of_salvage(const Error& error) noexcept {
  switch (error.code) {
    case ErrorCode::no_space:
    case ErrorCode::io:
    case ErrorCode::out_of_memory:
    case ErrorCode::busy:
    case ErrorCode::internal:
      return false;
    default:
      return true;
  }
}

Result<SalvageWriter> SalvageWriter::create(Environment& environment, std::shared_ptr<ContainerStore> store) {
  QUIRE_ASSIGN(DetachedEncoder encoder, DetachedEncoder::create(environment, *store));
  return SalvageWriter(environment, std::move(store), std::move(encoder));
}

void SalvageWriter::refuse(const Error& error) {
  if (refused_++ == 0) first_refusal_ = error.message;
}

Result<void> SalvageWriter::add(const SalvagedItem& item) {
  auto encoded = encoder_.encode(item.root, MissingId::refuse);
  if (!encoded) {
    if (!is_of_salvage(encoded.error())) return std::unexpected(std::move(encoded.error()));
    refuse(encoded.error());
    return {};
  }
  batch_.push_back(
      {std::string((*encoded)->key.bytes()), std::string((*encoded)->document), item.header.timestamp});
  batch_bytes_ += sizeof(Waiting) + batch_.back().key.size() + batch_.back().document.size();
  return batch_bytes_ < kCommitBytes ? Result<void>() : flush();
}

Result<void> SalvageWriter::flush() {
  if (batch_.empty()) return {};
  uint64_t written = 0;
  std::vector<Error> refusals;
  QUIRE_TRY(environment_->write([&](WriteTransaction& transaction) -> Result<void> {
    written = 0;
    refusals.clear();
    QUIRE_ASSIGN(BulkWriter writer, BulkWriter::begin(transaction, *store_, BulkMode::salvage));
    for (const Waiting& item : batch_) {
      auto added = writer.add(item.key, item.document, {document_hash(item.document)}, item.timestamp);
      if (added) {
        ++written;
        continue;
      }
      if (!is_of_salvage(added.error())) return added;
      QUIRE_ASSIGN(const auto existing, transaction.get(store_->items_table(), item.key));
      if (!existing) refusals.push_back(std::move(added.error()));
    }
    return writer.finish();
  }));
  for (const Error& error : refusals) refuse(error);
  written_ += written;
  batch_.clear();
  batch_bytes_ = 0;
  return {};
}

}  // namespace quire::engine
