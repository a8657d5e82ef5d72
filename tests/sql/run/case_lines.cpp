#include "tests/sql/run/case_lines.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string_view>

namespace quire::sql {
namespace {

constexpr std::string_view kFence = "```";
constexpr std::string_view kRow = "-- ";
constexpr std::string_view kParameter = "-- @";
constexpr std::string_view kError = "-- error: ";
constexpr std::string_view kNoRows = "-- no rows";
constexpr std::string_view kGives = "` → `";

class Page {
 public:
  explicit Page(std::vector<CaseLine> lines) : lines_(std::move(lines)) {}

  std::vector<CaseLine> cases() {
    for (; at_ < lines_.size(); ++at_) {
      const std::string_view line = lines_[at_].text;
      if (!line.starts_with(kFence)) {
        read_prose(line);
        continue;
      }
      read_block(line.substr(kFence.size()));
    }
    return std::move(cases_);
  }

 private:
  void emit(std::string text) {
    cases_.push_back({std::move(text), lines_[std::min(at_, lines_.size() - 1)].number});
  }

  // `expression` → `value`, any number of them.
  void read_prose(std::string_view line) {
    for (size_t gives = line.find(kGives); gives != std::string_view::npos;
         gives = line.find(kGives, gives + 1)) {
      const size_t begin = line.rfind('`', gives - 1) + 1;
      const size_t value = gives + kGives.size();
      const std::string_view expected = line.substr(value, line.find('`', value) - value);
      emit("scope");
      emit("strict off");
      emit("query");
      emit("SELECT VALUE " + unescaped(line.substr(begin, gives - begin)));
      emit("----");
      if (expected != "undefined") emit(unescaped(expected));
      emit("");
    }
  }

  // A bar within a cell of a table is written \|.
  static std::string unescaped(std::string_view cell) {
    std::string text;
    for (size_t i = 0; i < cell.size(); ++i)
      if (cell.substr(i, 2) != "\\|") text += cell[i];
    return text;
  }

  void read_block(std::string_view info) {
    std::istringstream words{std::string(info)};
    std::string language;
    words >> language;
    const bool is_container = language == "json" && !(words >> std::ws).eof();
    if (is_container) emit("container" + std::string(info.substr(language.size())));
    ++at_;
    while (at_ < lines_.size() && !lines_[at_].text.starts_with(kFence)) {
      if (language == "sql" && is_in_example()) {
        read_example(info);
        continue;
      }
      if (is_container) emit(lines_[at_].text);
      ++at_;
    }
    if (is_container) emit("");
  }

  bool is_in_example() const {
    return at_ < lines_.size() && !lines_[at_].text.empty() && !lines_[at_].text.starts_with(kFence);
  }
  bool is_row() const { return is_in_example() && lines_[at_].text.starts_with(kRow); }

  void read_example(std::string_view info) {
    const size_t in = info.find(" in ");
    emit("scope" + (in == std::string_view::npos ? "" : std::string(info.substr(in + 3))));
    emit(info.find(" strict") == std::string_view::npos ? "strict off" : "strict on");
    for (; is_in_example() && lines_[at_].text.starts_with(kParameter); ++at_) {
      std::string parameter = lines_[at_].text.substr(kRow.size());
      if (const size_t equals = parameter.find(" = "); equals != std::string::npos)
        parameter.replace(equals, 3, " ");
      emit("parameter " + parameter);
    }
    read_query();
    emit("");
  }

  void read_query() {
    std::vector<std::string> query;
    bool is_ordered = false;
    for (; is_in_example() && !is_row(); ++at_) {
      query.push_back(lines_[at_].text);
      is_ordered |= query.back().find("ORDER BY") != std::string::npos;
    }
    if (is_row() && lines_[at_].text.starts_with(kError)) {
      emit("error " + lines_[at_++].text.substr(kError.size()));
      for (std::string& line : query) emit(std::move(line));
      return;
    }
    emit(is_ordered ? "query ordered" : "query");
    for (std::string& line : query) emit(std::move(line));
    emit("----");
    for (; is_row(); ++at_)
      if (lines_[at_].text != kNoRows) emit(lines_[at_].text.substr(kRow.size()));
  }

  std::vector<CaseLine> lines_;
  std::vector<CaseLine> cases_;
  size_t at_ = 0;
};

}  // namespace

std::vector<CaseLine> read_case_lines(const std::filesystem::path& path) {
  std::vector<CaseLine> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back({line, lines.size() + 1});
  return path.extension() == ".md" ? Page(std::move(lines)).cases() : lines;
}

}  // namespace quire::sql
