#include "shell/infer_schema.h"

#include <fmt/format.h>

#include "shell/container_definition.h"

namespace quire::shell {
namespace {

// Objects used as maps have a path for each key: no more than so many are told apart.
constexpr size_t kMostPaths = 2000;

std::string_view type_name(Value value) {
  switch (value.type()) {
    case Type::undefined:
      return "undefined";
    case Type::null:
      return "null";
    case Type::boolean:
      return "boolean";
    case Type::integer:
      return "integer";
    case Type::real:
      return "number";
    case Type::string:
      return "string";
    case Type::array:
      return "array";
    case Type::object:
      return "object";
  }
  return "";
}

class Inference {
 public:
  void add_item(Value item) {
    ++schema_.items;
    for (const Member member : item.members()) add(std::string(member.name), member.value);
  }
  InferredSchema take() { return std::move(schema_); }

 private:
  void add(const std::string& path, Value value) {
    auto found = place_of_.find(path);
    if (found == place_of_.end()) {
      if (schema_.paths.size() == kMostPaths) return;
      found = place_of_.emplace(path, schema_.paths.size()).first;
      schema_.paths.push_back(
          {.path = path, .types = {}, .items = 0, .example = value.to_json().value_or("")});
      last_item_.push_back(0);
    }
    PathFacts& facts = schema_.paths[found->second];
    ++facts.types[std::string(type_name(value))];
    // An element of an array is met several times in an item.
    if (last_item_[found->second] != schema_.items) ++facts.items;
    last_item_[found->second] = schema_.items;
    for (const Member member : value.members()) add(path + "." + std::string(member.name), member.value);
    for (const Value element : value.elements()) add(path + "[]", element);
  }

  InferredSchema schema_;
  std::map<std::string, size_t> place_of_;
  std::vector<uint64_t> last_item_;
};

}  // namespace

Result<InferredSchema> infer_schema(Container& container, uint64_t most_items) {
  auto statement = prepare_own(container, fmt::format("SELECT TOP {} * FROM c", most_items));
  if (!statement) return Failure(std::move(statement.error()));
  Inference inference;
  for (const Value item : statement->rows()) inference.add_item(item);
  if (statement->error()) return Failure(*statement->error());
  return inference.take();
}

}  // namespace quire::shell
