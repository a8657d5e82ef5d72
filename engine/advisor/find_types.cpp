// Kinds of items in one container, told apart by a property: not to be changed, but good to know.
#include <fmt/format.h>

#include "engine/advisor/families.h"
#include "sql/value/json.h"

namespace quire::engine {

void find_types(const Evidence& evidence, Findings& findings) {
  const auto discriminator = evidence.survey.shapes.discriminator();
  if (!discriminator) return;
  Finding& finding = findings.emplace_back("types", Severity::note, "/" + discriminator->property);
  finding.what =
      fmt::format("{} tells {} types of items apart:", discriminator->property, discriminator->types.size());
  std::string types = "[";
  for (const TypeOfItem& type : discriminator->types) {
    JsonMembers properties;
    for (const auto& [name, share] : type.properties) properties.figure(name, share);
    JsonMembers row;
    row.text("value", type.value).count("items", type.items).json("properties", properties.object());
    types += (types.size() > 1 ? "," : "") + row.object();
    finding.what += fmt::format(" {} ({})", type.value, type.items);
  }
  finding.numbers.count("types", discriminator->types.size()).count("explained", discriminator->explained);
  finding.numbers.json("schemas", types + "]");
}

}  // namespace quire::engine
