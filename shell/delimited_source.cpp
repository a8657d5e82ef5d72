// CSV and TSV as JSON lines, a record at a time: each begins on the line that it has in the file, since lines
// without JSON stand for the header and for those within cells.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "shell/delimited_text.h"
#include "shell/import_source.h"
#include "shell/json_text.h"

namespace quire::shell {
namespace {

// The columns as a tree: "address.city" and "address.zip" are two leaves below "address", which may be a
// column too: in some records a value, in others an object.
struct ColumnNode {
  std::string name;
  std::optional<size_t> column;
  std::vector<ColumnNode> children;
  std::unordered_map<std::string, size_t> places;  // of the children, by name
};

// One level more than items may have, so that what is deeper is refused as an item; what is left of such a
// name stays one name.
constexpr size_t kMostNesting = 129;

// False if the name is there already.
bool insert_column(ColumnNode& parent, std::string_view name, size_t column, size_t depth = 1) {
  const size_t dot = name.find('.');
  const bool is_nested =
      dot != std::string_view::npos && dot > 0 && dot + 1 < name.size() && depth < kMostNesting;
  const std::string first(name.substr(0, is_nested ? dot : name.size()));
  const auto [place, is_new] = parent.places.try_emplace(first, parent.children.size());
  if (is_new) parent.children.push_back({first, std::nullopt, {}, {}});
  ColumnNode& node = parent.children[place->second];
  if (is_nested) return insert_column(node, name.substr(dot + 1), column, depth + 1);
  if (node.column) return false;
  node.column = column;
  return true;
}

class DelimitedSource : public ByteSource {
 public:
  DelimitedSource(ByteSource& source, char separator, Failing failing, IsJson is_json, LeftOut left_out)
      : source_(source),
        reader_(separator),
        failing_(failing),
        is_json_(std::move(is_json)),
        left_out_(std::move(left_out)) {}

  int64_t read(char* buffer, size_t capacity) override {
    while (at_ == json_.size()) {
      json_.clear();
      at_ = 0;
      const int64_t state = next_records();
      if (state <= 0) return state;
    }
    const size_t count = json_.copy(buffer, capacity, at_);
    at_ += count;
    return static_cast<int64_t>(count);
  }

 private:
  static constexpr size_t kBlockBytes = size_t{1} << 18;
  // The highest limit that a container may set for its items; so much of a record is kept in memory.
  static constexpr size_t kMostOfRecord = size_t{64} << 20;
  static constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

  // Reads a block and turns its complete records into JSON: 1, 0 at the end, -1 on failure.
  int64_t next_records() {
    if (!wrong_.empty()) return fail(std::move(wrong_));
    if (is_end_) return 0;
    const size_t had = text_.size();
    text_.resize(had + kBlockBytes);
    const int64_t count = source_.read(text_.data() + had, kBlockBytes);
    if (count < 0) return fail(source_.failure());
    text_.resize(had + static_cast<size_t>(count));
    is_end_ = count == 0;
    if (!is_past_mark_ && text_.size() < kByteOrderMark.size() && !is_end_) return 1;
    size_t place = !is_past_mark_ && text_.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
    is_past_mark_ = true;
    std::vector<DelimitedCell> record;
    while (reader_.next(text_, place, is_end_, record)) {
      if (std::string wrong = take(record); !wrong.empty()) return fail_at_record(std::move(wrong));
      json_.append(reader_.lines_read() + 1 - line_, '\n');
      line_ = reader_.lines_read() + 1;
    }
    text_.erase(0, place);
    if (reader_.bytes_read() > kMostOfRecord)
      return fail_at_record(fmt::format(
          "line {} begins a record that is longer than {} bytes, the most that an item may have: a quote in "
          "it is not closed, or not doubled",
          line_, kMostOfRecord));
    return 1;
  }

  int64_t fail_at_record(std::string wrong) {
    if (failing_ == Failing::at_once) return fail(std::move(wrong));
    wrong_ = std::move(wrong);
    return 1;
  }

  // What is wrong with the record, or nothing.
  std::string take(std::vector<DelimitedCell>& record) {
    if (record.back().is_cut)
      return fmt::format(
          "the record on line {} has a quoted cell without a closing quote: the file is cut short, or a "
          "quote "
          "in it is not doubled",
          line_);
    if (!std::exchange(is_past_header_, true)) return take_header(record);
    const bool is_blank = record.size() == 1 && record[0].text.empty() && !record[0].is_quoted;
    if (is_blank) return {};
    const size_t start = json_.size();
    const std::string wrong = add_item(record);
    if (wrong.empty()) return {};
    if (!left_out_) return fmt::format("line {} {}", line_, wrong);
    left_out_(line_, "it " + wrong);
    json_.resize(start);
    return {};
  }

  static std::string text_behind_quote(const std::vector<DelimitedCell>& record) {
    const auto spoilt = std::ranges::find(record, true, &DelimitedCell::is_spoilt);
    if (spoilt == record.end()) return {};
    return fmt::format("has text behind the closing quote of cell {}: a quote within a cell is doubled",
                       spoilt - record.begin() + 1);
  }

  // What is wrong with the record, or nothing.
  std::string add_item(const std::vector<DelimitedCell>& record) {
    if (std::string wrong = text_behind_quote(record); !wrong.empty()) return wrong;
    if (record.size() > column_count_)
      return fmt::format("has {} cells, the header only {}", record.size(), column_count_);
    twofold_.clear();
    json_ += '{';
    add_members(root_, record);
    json_ += '}';
    if (twofold_.empty()) return {};
    return fmt::format("has a value in '{}' and in a column below it, '{}.…': an item can have one of them",
                       twofold_, twofold_);
  }

  std::string take_header(std::vector<DelimitedCell>& record) {
    if (std::string wrong = text_behind_quote(record); !wrong.empty()) return "the header " + wrong;
    column_count_ = record.size();
    for (size_t i = 0; i < record.size(); ++i) {
      // The whole file would be its header.
      if (!record[i].is_quoted && record[i].text.contains('\r'))
        return "its lines end with a carriage return alone, which is no end here: tr '\\r' '\\n' makes line "
               "feeds of them";
      // In quotes it is the empty name, as the export writes it. Without, the writer had none, as for the
      // numbers of rows that data frames are written with.
      const bool has_name = !record[i].text.empty() || record[i].is_quoted;
      const std::string name = has_name ? record[i].text : fmt::format("column{}", i + 1);
      if (!insert_column(root_, name, i))
        return fmt::format("column {} of the header, '{}', is there already", i + 1, name);
    }
    return {};
  }

  // Adds the members that the record has; false if there is none.
  bool add_members(const ColumnNode& parent, const std::vector<DelimitedCell>& record) {
    bool is_first = true;
    for (const ColumnNode& node : parent.children) {
      const size_t start = json_.size();
      if (!is_first) json_ += ',';
      json_ += json_string(node.name) + ":";
      const size_t value_start = json_.size();
      bool is_there = false;
      if (!node.children.empty()) {
        json_ += '{';
        is_there = add_members(node, record);
        json_ += '}';
        if (!is_there) json_.resize(value_start);
      }
      if (node.column && *node.column < record.size()) {
        const bool has_value = add_value(record[*node.column], is_id(parent, node));
        if (has_value && is_there) twofold_ = node.name;
        is_there = is_there || has_value;
      }
      if (!is_there) json_.resize(start);
      is_first = is_first && !is_there;
    }
    return !is_first;
  }

  // An item's id is a string, whatever it looks like.
  bool is_id(const ColumnNode& parent, const ColumnNode& node) const {
    return &parent == &root_ && node.name == "id";
  }

  bool add_value(const DelimitedCell& cell, bool is_id) {
    const std::string& text = cell.text;
    if (text.empty() && !cell.is_quoted) return false;
    if (is_id) {
      json_ += json_string(text);
      return true;
    }
    const bool is_word = text == "true" || text == "false" || text == "null";
    const bool is_number = is_json_number(text) && !has_too_many_digits(text);
    const bool is_bare_value = !cell.is_quoted && (is_word || is_number);
    const bool may_be_json = text.starts_with('[') || text.starts_with('{');
    json_ += is_bare_value || (may_be_json && is_json_(text)) ? one_line(text) : json_string(text);
    return true;
  }

  // JSON that was written over several lines.
  static std::string one_line(std::string text) {
    std::ranges::replace_if(text, [](char c) { return c == '\n' || c == '\r'; }, ' ');
    return text;
  }

  ByteSource& source_;
  DelimitedReader reader_;
  Failing failing_;
  std::string wrong_;  // with a record that comes behind what is in json_
  IsJson is_json_;
  LeftOut left_out_;
  ColumnNode root_;
  std::string twofold_;  // the column of the record that would be both a value and an object
  size_t column_count_ = 0;
  uint64_t line_ = 1;  // on which the record begins
  bool is_past_header_ = false;
  std::string text_;  // read and not yet taken apart
  std::string json_;
  size_t at_ = 0;
  bool is_end_ = false;
  bool is_past_mark_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> read_delimited(ByteSource& source, char separator, Failing failing,
                                           IsJson is_json, LeftOut left_out) {
  return std::make_unique<DelimitedSource>(source, separator, failing, std::move(is_json),
                                           std::move(left_out));
}

}  // namespace quire::shell
