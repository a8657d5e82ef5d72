// .export: a container's items as JSON lines, without what the database sets.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "shell/commands.h"
#include "shell/interrupt.h"
#include "shell/json_text.h"
#include "shell/messages.h"

namespace quire::shell {
namespace {

// A file that is written beside its place and moved there at the end, so that a failure leaves what was
// there; or standard output.
class Output {
 public:
  explicit Output(const std::string& path)
      : path_(path),
        partial_path_(path + ".part"),
        file_(path == "-" ? stdout : std::fopen(partial_path_.c_str(), "wb")) {}
  ~Output() {
    if (!is_file() || file_ == nullptr) return;
    std::fclose(file_);
    ::unlink(partial_path_.c_str());
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  bool is_open() const { return file_ != nullptr; }
  bool is_file() const { return file_ != stdout; }

  bool write(std::string_view text) { return std::fwrite(text.data(), 1, text.size(), file_) == text.size(); }
  bool finish() {
    if (!is_file()) return std::fflush(file_) == 0;
    const bool is_closed = std::fclose(file_) == 0;
    file_ = nullptr;
    if (is_closed && std::rename(partial_path_.c_str(), path_.c_str()) == 0) return true;
    const int reason = errno;
    ::unlink(partial_path_.c_str());
    errno = reason;
    return false;
  }

 private:
  std::string path_;
  std::string partial_path_;
  std::FILE* file_;
};

Result<void> append_item(std::string& text, Value item) {
  constexpr std::array<std::string_view, 5> kSystemProperties = {"_rid", "_self", "_etag", "_attachments",
                                                                 "_ts"};
  const size_t start = text.size();
  text += '{';
  for (const Member member : item.members()) {
    if (std::find(kSystemProperties.begin(), kSystemProperties.end(), member.name) != kSystemProperties.end())
      continue;
    auto json = member.value.to_json();
    if (!json) return Failure(std::move(json.error()));
    if (text.size() > start + 1) text += ',';
    text += quoted(member.name);
    text += ':';
    text += *json;
  }
  text += "}\n";
  return {};
}

}  // namespace

Outcome export_command(Session& session, const Words& words) {
  const auto failed = [](const Error& error) {
    print_error(error);
    return Outcome::failed;
  };
  auto container = session.database().container(words[0]);
  if (!container) return failed(container.error());
  auto statement = container->prepare("SELECT VALUE c FROM c");
  if (!statement) return failed(statement.error());
  Output output(words[1]);
  const auto cannot_write = [&] {
    if (!output.is_file()) return cannot_write_output();
    print_message(fmt::format("cannot write '{}': {}", words[1], std::strerror(errno)));
    return Outcome::failed;
  };
  if (!output.is_open()) return cannot_write();

  const Interruptible interruptible(session.database());
  uint64_t items = 0;
  std::string text;
  for (const Value item : statement->rows()) {
    text.clear();
    if (auto appended = append_item(text, item); !appended) return failed(appended.error());
    if (!output.write(text)) return cannot_write();
    ++items;
  }
  if (statement->error()) return failed(*statement->error());
  if (!output.finish()) return cannot_write();
  if (output.is_file()) fmt::print(stderr, "{} items exported\n", items);
  return Outcome::done;
}

}  // namespace quire::shell
