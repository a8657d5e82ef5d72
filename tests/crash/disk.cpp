#include "tests/crash/disk.h"

#include <algorithm>

namespace quire::tests {
namespace {

using Kind = TapeEntry::Kind;

// What a disk writes as one.
constexpr uint64_t kSector = 512;

void put(std::string& bytes, uint64_t offset, std::string_view text) {
  if (bytes.size() < offset + text.size()) bytes.resize(offset + text.size());
  bytes.replace(offset, text.size(), text);
}

// Calls visit(offset, text) for the parts of a write that lie in one sector each.
template <typename Visit>
void for_each_sector(const TapeEntry& entry, const Visit& visit) {
  for (uint64_t done = 0; done < entry.text.size();) {
    const uint64_t at = entry.offset + done;
    const uint64_t count = std::min<uint64_t>(kSector - at % kSector, entry.text.size() - done);
    visit(at, std::string_view(entry.text).substr(done, count));
    done += count;
  }
}

void apply(std::string& bytes, const TapeEntry& entry) {
  if (entry.kind == Kind::truncated)
    bytes.resize(entry.offset);
  else
    put(bytes, entry.offset, entry.text);
}

void apply_first_sectors(std::string& bytes, const TapeEntry& entry, std::mt19937_64& random) {
  if (entry.kind == Kind::truncated) return;
  uint64_t sectors = random() % (entry.text.size() / kSector + 1);
  for_each_sector(entry, [&](uint64_t offset, std::string_view text) {
    if (sectors == 0) return;
    put(bytes, offset, text);
    --sectors;
  });
}

void apply_some_sectors(std::string& bytes, const TapeEntry& entry, std::mt19937_64& random,
                        uint64_t of_eight) {
  if (entry.kind == Kind::truncated) {
    if (random() % 8 < of_eight) apply(bytes, entry);
    return;
  }
  for_each_sector(entry, [&](uint64_t offset, std::string_view text) {
    if (random() % 8 < of_eight) put(bytes, offset, text);
  });
}

void apply_name(std::map<std::string, uint64_t>& names, const TapeEntry& entry) {
  switch (entry.kind) {
    case Kind::created:
      names[entry.name] = entry.file;
      return;
    case Kind::unlinked:
      names.erase(entry.name);
      return;
    case Kind::renamed: {
      const auto found = names.find(entry.name);
      if (found == names.end()) return;
      const uint64_t file = found->second;
      names.erase(found);
      names[entry.text] = file;
      return;
    }
    default:
      return;
  }
}

bool is_of_names(const TapeEntry& entry) {
  return entry.kind == Kind::created || entry.kind == Kind::renamed || entry.kind == Kind::unlinked;
}
bool is_of_bytes(const TapeEntry& entry) {
  return entry.kind == Kind::wrote || entry.kind == Kind::wrote_sync || entry.kind == Kind::truncated;
}

}  // namespace

void Disk::play(const TapeEntry& entry) {
  if (is_of_names(entry)) pending_names_.push_back(&entry);
  if (entry.kind == Kind::created) files_[entry.file];
  if (is_of_bytes(entry)) files_[entry.file].pending.push_back({&entry, entry.kind == Kind::wrote_sync});
  if (entry.kind == Kind::synced) sync(files_[entry.file]);
  if (entry.kind != Kind::folder_sync) return;
  for (const TapeEntry* pending : pending_names_) apply_name(names_, *pending);
  pending_names_.clear();
}

void Disk::sync(File& file) {
  for (const Change& change : file.pending) apply(file.certain, *change.entry);
  file.pending.clear();
}

FolderImage Disk::after_cut(const TapeEntry& entry, PowerCut cut, std::mt19937_64& random) const {
  auto names = names_;
  std::vector<const TapeEntry*> of_names = pending_names_;
  if (is_of_names(entry)) of_names.push_back(&entry);
  size_t kept = cut == PowerCut::dropped ? 0 : of_names.size();
  if (cut == PowerCut::reordered) kept = random() % (of_names.size() + 1);
  for (size_t i = 0; i < kept; ++i) apply_name(names, *of_names[i]);

  FolderImage image;
  for (const auto& [name, number] : names) {
    const auto found = files_.find(number);
    std::string& bytes = image[name];
    if (found != files_.end()) bytes = found->second.certain;
    const uint64_t of_eight = 1 + random() % 7;
    const auto change = [&](const TapeEntry& one, bool is_certain, bool is_under_way) {
      if (is_certain || cut == PowerCut::kept || (cut == PowerCut::torn && !is_under_way))
        return apply(bytes, one);
      if (cut == PowerCut::torn) apply_first_sectors(bytes, one, random);
      if (cut == PowerCut::reordered) apply_some_sectors(bytes, one, random, of_eight);
    };
    if (found != files_.end())
      for (const Change& pending : found->second.pending) change(*pending.entry, pending.is_certain, false);
    if (is_of_bytes(entry) && entry.file == number) change(entry, false, true);
  }
  return image;
}

}  // namespace quire::tests
