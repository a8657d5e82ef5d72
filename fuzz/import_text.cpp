// Any text as CSV, TSV, JSON lines, a JSON array or Extended JSON, through the shell's readers into a
// container: what is imported is there, can be read, and is sound.
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/require.h"
#include "quire/quire.hpp"
#include "shell/import_source.h"

namespace {

using namespace quire;

using quire::fuzz::require;

// In small pieces, so that what comes in two of them is met too.
class TextSource : public shell::ByteSource {
 public:
  explicit TextSource(std::string_view text) : text_(text) {}
  int64_t read(char* buffer, size_t capacity) override {
    const size_t count = text_.copy(buffer, std::min<size_t>(capacity, 61));
    text_.remove_prefix(count);
    return static_cast<int64_t>(count);
  }

 private:
  std::string_view text_;
};

bool is_json(Database& database, std::string_view text) {
  auto statement = database.prepare("SELECT VALUE @value");
  return statement && statement->bind("value", Json{text}).has_value();
}

void import(Database& database, shell::ByteSource& source, const ImportOptions& options) {
  require(database.create_container(R"({"id":"c"})").has_value());
  {
    auto container = database.container("c");
    require(container.has_value());
    const auto read = [&](char* buffer, size_t capacity) { return source.read(buffer, capacity); };
    const auto done = container->import(read, options);
    auto count = database.prepare("SELECT VALUE COUNT(1) FROM c");
    require(count && count->step().value());
    if (done && !options.upsert) require(count->row().as_integer() == static_cast<int64_t>(done->items));
    if (!done) require(!done.error().message.empty());
  }
  const auto faults = database.check("c");
  require(faults && *faults == "[]");
  require(database.drop_container("c").has_value());
}

}  // namespace

// The first byte says how: two bits for the form, one each for the options.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static auto database = Database::open(":memory:");
  require(database.has_value());
  if (size == 0) return 0;
  const uint8_t how = data[0];
  TextSource text({reinterpret_cast<const char*>(data) + 1, size - 1});
  ImportOptions options;
  options.skip_errors = (how & 4) != 0;
  options.extended_json = (how & 8) != 0;
  options.generate_ids = (how & 16) != 0;
  options.upsert = (how & 32) != 0;
  if ((how & 3) < 2) {
    import(*database, text, options);
    return 0;
  }
  const auto lines =
      shell::read_delimited(text, (how & 3) == 2 ? ',' : '\t',
                            (how & 64) != 0 ? shell::Failing::behind_good_records : shell::Failing::at_once,
                            [&](std::string_view value) { return is_json(*database, value); }, {});
  import(*database, *lines, options);
  return 0;
}
