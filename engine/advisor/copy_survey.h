// Subdocuments that stand in several items: objects with an identity ("id", "customerId", ...), and
// properties that repeat what an identity beside them names (customerId, customerName). Of each identity the
// first copy is kept as hashes, and later ones are compared with it, property by property.
//
// A property describes what the identity names if copies agree on it far more often than two copies of
// different identities do; one that differs all the time (the quantity of an order's line) belongs to the
// item it is in.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/advisor/path_survey.h"

namespace quire::engine {

struct CopiedProperty {
  std::string name;
  uint64_t same = 0;  // later copies that agree with the first of their identity
  uint64_t different = 0;
  uint64_t same_by_chance = 0;  // copies that agree with one of another identity
  uint64_t compared_by_chance = 0;
  uint64_t identities_that_differ = 0;
  // Copies that differ from the first: JSON objects.
  std::vector<std::string> examples;

  double agreement() const;
  double chance() const;
};

struct CopiedPath {
  std::string path;      // of the object
  std::string identity;  // the property that identifies it
  bool is_flat = false;  // properties beside the identity rather than an object of their own
  std::vector<CopiedProperty> properties;
  uint64_t copies = 0;
  uint64_t identities = 0;
  uint64_t identities_copied = 0;  // in several items
};

class CopySurvey final : public PathVisitor {
 public:
  CopySurvey();
  ~CopySurvey() override;
  CopySurvey(CopySurvey&&) noexcept;
  CopySurvey& operator=(CopySurvey&&) noexcept;
  void object(const WalkedItem& item, const PathFacts& path, const sql::Value& object,
              const sql::Value& siblings) override;
  void scalar(const WalkedItem&, const PathFacts&, const sql::Value&) override {}

  std::vector<const CopiedPath*> paths() const;

 private:
  struct Group;
  struct Path;
  Path* find(const std::string& path, std::string_view identity, bool is_flat);
  void compare(const WalkedItem& item, Path& path, const sql::Value& identity, const sql::Value& object);
  void flat_copies(const WalkedItem& item, const PathFacts& path, const sql::Value& object);

  std::map<std::string, std::unique_ptr<Path>> paths_;  // by path and identity
  size_t groups_ = 0;
};

}  // namespace quire::engine
