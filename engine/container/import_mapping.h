// What an import's options make of an item before it is encoded: MongoDB's Extended JSON made plain, the id
// taken from another property.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/container/import.h"
#include "sql/error.h"
#include "sql/value/arena.h"
#include "sql/value/json.h"
#include "sql/value/value.h"

namespace quire::engine {

class ImportMapping {
 public:
  // invalid_argument if options.id_path is no path.
  static Result<ImportMapping> make(const ImportOptions& options);

  // Items are taken as they are: their text needs no map().
  bool is_identity() const noexcept { return !maps_extended_json_ && id_steps_.empty(); }
  // The item of a JSON text; good until the next call.
  Result<sql::Value> map(std::string_view json);

 private:
  Result<sql::Value> with_id(const sql::Value& item);

  bool maps_extended_json_ = false;
  std::string id_path_;
  std::vector<std::string> id_steps_;
  sql::JsonReader reader_;
  std::unique_ptr<sql::Arena> arena_ = std::make_unique<sql::Arena>();
};

}  // namespace quire::engine
