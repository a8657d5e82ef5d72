// References: properties that name other items by their ids (`personId`, arrays of ids), and what they lead
// to. First the values are gathered from a sample of the container; then the ids of every container are read
// once and looked up among them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/advisor/path_survey.h"

namespace quire::engine {

// A value that may be an id.
struct ReferredValue {
  std::string text;
  uint32_t uses = 0;       // by different items
  uint64_t last_item = 0;  // that used it
  ItemName first;          // the first item that used it
  uint64_t found_in = 0;   // a bit for each container, by its number
};

struct Resolution {
  uint64_t values = 0;      // different ones that lead to an item
  double target_bytes = 0;  // of these items
};

struct ReferencePath {
  std::string path;
  std::string name;  // of the property
  bool is_in_array = false;
  bool is_named = false;   // "personId": its name says that it is a reference
  bool is_digits = false;  // all values are, so a match may be by chance
  uint64_t uses = 0;
  uint64_t own_ids = 0;  // uses that repeat the id of their item
  std::unordered_map<std::string, ReferredValue> values;
  std::vector<Resolution> resolutions;  // by container
};

class ReferenceSurvey final : public PathVisitor {
 public:
  void object(const WalkedItem&, const PathFacts&, const sql::Value&, const sql::Value&) override {}
  void scalar(const WalkedItem& item, const PathFacts& path, const sql::Value& value) override;

  static constexpr size_t kMostContainers = 64;
  // Makes ready for look-ups among the ids of so many containers.
  void begin_resolving(size_t containers);
  // An item of a container has this id.
  void meet(size_t container, std::string_view id, uint64_t bytes);

  bool is_empty() const noexcept { return paths_.empty(); }
  std::vector<const ReferencePath*> paths() const;

 private:
  std::map<std::string, std::unique_ptr<ReferencePath>, std::less<>> paths_;
  size_t values_ = 0;
  // The id and what may refer to it. The texts are those of the paths.
  struct Referrer {
    ReferencePath* path;
    ReferredValue* value;
  };
  std::unordered_map<std::string_view, std::vector<Referrer>> by_id_;
};

}  // namespace quire::engine
