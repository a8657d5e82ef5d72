#include "tests/oracle/answer.h"

namespace quire::sql::oracle {
namespace {

std::string without_system_properties(std::string text) {
  for (size_t at = 0; (at = text.find(",\"_rid\":", at)) != std::string::npos;) {
    const size_t last = text.find("\"_ts\":", at);
    const size_t end = text.find_first_not_of("0123456789", last + 6);
    text.erase(at, end - at);
  }
  return text;
}

}  // namespace

Answer ask(Database& database, const std::string& sql, std::span<const Parameter> parameters) {
  Answer answer;
  auto statement = database.prepare(sql);
  if (!statement) {
    answer.error = statement.error().message;
    return answer;
  }
  for (const Parameter& parameter : parameters) (void)statement->bind(parameter.name, Json{parameter.json});
  for (const quire::Value row : statement->rows()) {
    const auto text = row.to_json();
    answer.rows.push_back(text ? without_system_properties(*text) : "NaN");
  }
  if (const auto error = statement->error()) {
    answer.error = error->message;
    answer.is_out_of_time = error->code == QUIRE_TIMEOUT;
  }
  return answer;
}

}  // namespace quire::sql::oracle
