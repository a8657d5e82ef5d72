#include "tests/histories/history.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

namespace quire::tests {
namespace {

// "B number kind moment" and the operations: "r3" reads, "a3=17" appends; "E number moment done" and what was
// read: "3:[1,2]".
void read_begin(std::istringstream& line, TransactionRecord& record) {
  line >> record.kind >> record.begun;
  for (std::string word; line >> word;) {
    Operation operation{.list = std::atoi(word.c_str() + 1), .appends = word[0] == 'a'};
    if (operation.appends) operation.value = std::atoll(word.c_str() + word.find('=') + 1);
    record.operations.push_back(std::move(operation));
  }
}

void read_end(std::istringstream& line, TransactionRecord& record) {
  std::string outcome;
  line >> record.ended >> outcome;
  record.outcome = outcome == "done" ? Outcome::done : Outcome::undone;
  for (Operation& operation : record.operations) {
    std::string word;
    if (!operation.appends && line >> word) operation.seen = parse_list(word);
  }
}

}  // namespace

bool TransactionRecord::writes() const {
  return std::ranges::any_of(operations, &Operation::appends);
}

HistoryWriter::HistoryWriter(const std::string& path)
    : descriptor_(open(path.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600)) {
  if (descriptor_ < 0) abort();
}

HistoryWriter::~HistoryWriter() {
  close(descriptor_);
}

void HistoryWriter::begins(const TransactionRecord& record) {
  std::string line = fmt::format("B {} {} {}", record.number, record.kind, record.begun);
  for (const Operation& operation : record.operations)
    line += operation.appends ? fmt::format(" a{}={}", operation.list, operation.value)
                              : fmt::format(" r{}", operation.list);
  write_line(line);
}

void HistoryWriter::ends(const TransactionRecord& record) {
  std::string line = fmt::format("E {} {} {}", record.number, record.ended,
                                 record.outcome == Outcome::done ? "done" : "undone");
  for (const Operation& operation : record.operations)
    if (!operation.appends) line += fmt::format(" [{}]", fmt::join(operation.seen, ","));
  write_line(line);
}

void HistoryWriter::write_line(const std::string& line) {
  const std::string whole = line + "\n";
  if (write(descriptor_, whole.data(), whole.size()) != static_cast<ssize_t>(whole.size())) abort();
}

std::vector<TransactionRecord> read_histories(const std::string& folder) {
  std::map<int64_t, TransactionRecord> records;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    std::ifstream lines(file.path());
    // A kill in the middle of a write leaves a part of a line, which counts as none.
    for (std::string text; std::getline(lines, text) && !lines.eof();) {
      std::istringstream line(text);
      char sign = 0;
      int64_t number = 0;
      line >> sign >> number;
      TransactionRecord& record = records[number];
      record.number = number;
      if (sign == 'B')
        read_begin(line, record);
      else
        read_end(line, record);
    }
  }
  std::vector<TransactionRecord> all;
  for (auto& [number, record] : records) all.push_back(std::move(record));
  return all;
}

List parse_list(const std::string& json, size_t at) {
  List list;
  at = json.find('[', at);
  if (at == std::string::npos) return list;
  for (const char* place = json.c_str() + at + 1; *place != ']' && *place != '\0';) {
    char* end = nullptr;
    list.push_back(std::strtoll(place, &end, 10));
    place = *end == ',' ? end + 1 : end;
  }
  return list;
}

}  // namespace quire::tests
