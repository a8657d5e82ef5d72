// Reading a patch: what an operation may say, and which paths it may name. How it is done is in
// apply_patch.cpp.
#include "engine/container/patch.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "sql/source.h"
#include "sql/value/member_reader.h"

namespace quire::engine {
namespace {

struct KindRow {
  std::string_view word;
  PatchKind kind;
  std::string_view operand;  // the member that it takes beside op and path; empty: none
};
constexpr KindRow kKinds[] = {
    {"add", PatchKind::add, "value"},         {"set", PatchKind::set, "value"},
    {"replace", PatchKind::replace, "value"}, {"remove", PatchKind::remove, ""},
    {"incr", PatchKind::increment, "value"},  {"move", PatchKind::move, "from"},
};

class OperationReader {
 public:
  OperationReader(const ContainerDefinition& definition, sql::Arena& arena)
      : definition_(definition), arena_(arena) {}

  Result<PatchOperation> read(const sql::Value& given, size_t number) {
    number_ = number;
    word_ = path_ = {};
    if (!given.is_object()) return wrong("is not an object with \"op\" and \"path\"");
    const Members members(given);
    QUIRE_ASSIGN(const std::string_view word, text(members.op, "op"));
    const auto* const row = std::ranges::find(kKinds, word, &KindRow::word);
    if (row == std::end(kKinds))
      return wrong(fmt::format("has the op '{}'; there are add, set, replace, remove, incr and move",
                               shortened(word)));
    QUIRE_ASSIGN(const std::string_view path, text(members.path, "path"));
    word_ = word;
    path_ = path;
    QUIRE_TRY(check_members(given, members, *row));
    PatchOperation operation{
        .kind = row->kind, .word = row->word, .path = path, .steps = {}, .from = {}, .value = {}};
    QUIRE_ASSIGN(operation.steps, steps_of(path));
    if (row->kind == PatchKind::move) QUIRE_TRY(read_from(members, operation));
    if (row->operand == "value") QUIRE_TRY(read_value(members, operation));
    return operation;
  }

 private:
  // What an operation has, found in one walk.
  struct Members {
    explicit Members(const sql::Value& given) {
      sql::MemberWalk walk(given);
      for (sql::Member member; walk.next(member); ++count) {
        if (member.name == "op")
          op = member.value;
        else if (member.name == "path")
          path = member.value;
        else if (member.name == "value")
          value = member.value;
        else if (member.name == "from")
          from = member.value;
      }
    }
    bool has(std::string_view operand) const noexcept {
      return (operand == "value" && value.is_defined()) || (operand == "from" && from.is_defined());
    }

    sql::Value op, path, value, from;
    size_t count = 0;
  };

  std::unexpected<Error> wrong(std::string_view what) const {
    const std::string operation = word_.empty()
                                      ? fmt::format("operation {}", number_)
                                      : fmt::format("operation {} ({} {})", number_, word_, shortened(path_));
    return fail(ErrorCode::invalid_argument, fmt::format("{} {}", operation, what));
  }

  Result<std::string_view> text(const sql::Value& value, std::string_view member) const {
    if (!value.is_string()) return wrong(fmt::format("needs \"{}\", a string", member));
    return value.as_string();
  }

  Result<void> check_members(const sql::Value& given, const Members& members, const KindRow& row) const {
    if (members.count == (members.has(row.operand) ? 3 : 2)) return {};  // op, path and that
    for (uint32_t i = 0; i < given.size(); ++i) {
      const std::string_view name = given.member_at(i).name;
      if (name == "op" || name == "path" || (!row.operand.empty() && name == row.operand)) continue;
      return wrong(fmt::format("has a member '{}', which {} does not take", shortened(name), row.word));
    }
    return {};
  }

  Result<void> read_from(const Members& members, PatchOperation& operation) {
    QUIRE_ASSIGN(const std::string_view path, text(members.from, "from"));
    QUIRE_ASSIGN(operation.from, steps_of(path));
    const bool is_inside = operation.steps.size() > operation.from.size() &&
                           std::ranges::equal(operation.from, operation.steps.first(operation.from.size()));
    if (is_inside) return wrong(fmt::format("would move {} into itself", shortened(path)));
    return {};
  }

  Result<void> read_value(const Members& members, PatchOperation& operation) const {
    operation.value = members.value;
    if (operation.value.is_undefined()) return wrong("needs \"value\"");
    if (operation.kind == PatchKind::increment && !operation.value.is_number())
      return wrong("needs a number as \"value\"");
    return {};
  }

  // The names and indexes of a JSON Pointer: "~1" stands for '/', "~0" for '~'.
  Result<std::span<const std::string_view>> steps_of(std::string_view path) {
    if (!path.starts_with('/'))
      return wrong(fmt::format("needs a path that begins with '/', not '{}'", shortened(path)));
    size_t count = 1;
    for (size_t at = path.find('/', 1); at != std::string_view::npos; at = path.find('/', at + 1)) ++count;
    const std::span<std::string_view> steps = arena_.make_array<std::string_view>(count);
    for (std::string_view& step : steps) {
      path.remove_prefix(1);
      const std::string_view escaped = path.substr(0, path.find('/'));
      path.remove_prefix(escaped.size());
      QUIRE_ASSIGN(step, unescape(escaped));
    }
    QUIRE_TRY(check_may_change(steps));
    return steps;
  }

  Result<std::string_view> unescape(std::string_view step) const {
    if (!step.contains('~')) return step;
    std::string plain;
    for (size_t i = 0; i < step.size(); ++i) {
      if (step[i] != '~') {
        plain += step[i];
        continue;
      }
      const char next = i + 1 < step.size() ? step[++i] : '\0';
      if (next != '0' && next != '1')
        return wrong("has a '~' in its path that is neither ~0 (for '~') nor ~1 (for '/')");
      plain += next == '0' ? '~' : '/';
    }
    return arena_.copy_string(plain);
  }

  Result<void> check_may_change(std::span<const std::string_view> steps) const {
    if (steps[0] == "id") return wrong("would change the item's id, which stays as it is");
    if (std::ranges::find(sql::kSystemPropertyNames, steps[0]) != std::end(sql::kSystemPropertyNames))
      return wrong(fmt::format("would change {}, which the database sets", steps[0]));
    for (const std::vector<std::string>& key : definition_.partition_key_paths) {
      const size_t common = std::min(steps.size(), key.size());
      if (std::ranges::equal(steps.first(common), std::span(key).first(common)))
        return wrong("would change the partition key; to move an item, create it anew and delete this one");
    }
    return {};
  }

  const ContainerDefinition& definition_;
  sql::Arena& arena_;
  // Of the operation at hand, for messages.
  size_t number_ = 0;
  std::string_view word_, path_;
};

}  // namespace

Result<Patch> Patch::read(const sql::Value& operations, const ContainerDefinition& definition,
                          sql::Arena& arena) {
  if (!operations.is_array() || operations.size() == 0)
    return fail(ErrorCode::invalid_argument,
                R"(a patch needs an array of operations, as in [{"op": "set", "path": "/a", "value": 1}])");
  if (operations.size() > kMostPatchOperations)
    return fail(ErrorCode::limit_exceeded, fmt::format("a patch has {} operations; the limit is {}",
                                                       operations.size(), kMostPatchOperations));
  const auto read = arena.make_array<PatchOperation>(operations.size());
  OperationReader reader(definition, arena);
  for (uint32_t i = 0; i < operations.size(); ++i) {
    QUIRE_ASSIGN(read[i], reader.read(operations.element(i), i + 1));
  }
  return Patch(read, arena);
}

Result<PatchBody> read_patch_body(const sql::Value& body) {
  if (body.is_array()) return PatchBody{.condition = {}, .operations = body};
  if (!body.is_object())
    return fail(ErrorCode::invalid_argument,
                R"(a patch is an array of operations, or {"condition": ..., "operations": [...]})");
  PatchBody parts;
  for (uint32_t i = 0; i < body.size(); ++i) {
    const sql::Member member = body.member_at(i);
    if (member.name == "operations") {
      parts.operations = member.value;
    } else if (member.name != "condition") {
      return fail(
          ErrorCode::invalid_argument,
          fmt::format("a patch has \"condition\" and \"operations\", no '{}'", shortened(member.name)));
    } else if (!member.value.is_string() || member.value.as_string().empty()) {
      return fail(ErrorCode::invalid_argument,
                  R"(the condition of a patch is a string: "FROM c WHERE c.stock > 0")");
    } else {
      parts.condition = member.value.as_string();
    }
  }
  return parts;
}

}  // namespace quire::engine
