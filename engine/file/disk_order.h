// What must have reached the disk before what, where LMDB does not see to it: the first pages of a new file,
// and names in a folder.
#pragma once

#include <string>
#include <utility>

#include "sql/error.h"

namespace quire::engine {

// Whether the file is one whose making a power cut or a kill ended: nothing but empty first pages, or a part
// of them. In the making they reach the disk before anything else is written.
Result<bool> is_unfinished(int descriptor, const std::string& path);

// Empties such a file, so that it is made anew. False if somebody else is at it: look at the file again.
Result<bool> begin_anew(int descriptor, const std::string& path);

// Has the name of a new file reach the disk. A folder that cannot be opened or synced (network file
// systems have such) is left to the system.
Result<void> sync_name(const std::string& path);

// A file under a name that it does not keep: removed at the end, unless it has got its own by then.
class UnfinishedFile {
 public:
  explicit UnfinishedFile(std::string path) : path_(std::move(path)) {}
  ~UnfinishedFile();
  UnfinishedFile(const UnfinishedFile&) = delete;
  UnfinishedFile& operator=(const UnfinishedFile&) = delete;
  const std::string& path() const noexcept { return path_; }

  // Makes it, empty: who may not read the other file may not read it.
  Result<void> make_as_private_as(const std::string& other);
  // Gives it its name once its bytes are on the disk, and has the name reach the disk. cannot_open where a
  // file has that name, unless this one is to take its place.
  Result<void> finish(const std::string& name, bool replaces);

 private:
  std::string path_;
};

}  // namespace quire::engine
