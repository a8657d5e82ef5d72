// .generate: sample data to try things on. A kind is a row of a table and a function that writes one item;
// the numbers come from a generator of fixed seed, so that the same items come out each time.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <random>

#include "shell/commands.h"
#include "shell/container_definition.h"
#include "shell/interrupt.h"
#include "shell/json_text.h"
#include "shell/messages.h"
#include "shell/progress.h"

namespace quire::shell {
namespace {

using Random = std::mt19937_64;

// std::uniform_int_distribution gives other numbers with other libraries.
uint64_t below(Random& random, uint64_t bound) {
  return random() % bound;
}

template <size_t kCount>
std::string_view one_of(Random& random, const std::array<std::string_view, kCount>& values) {
  return values[below(random, kCount)];
}

constexpr std::array<std::string_view, 8> kCities = {"Kyiv", "Lviv",   "Odesa",   "Porto",
                                                     "東京", "Zürich", "Nairobi", "Lima"};
constexpr std::array<std::string_view, 8> kNames = {"Olha", "Taras", "Mira",   "Ana",
                                                    "Jun",  "Amara", "Élodie", "Søren"};
constexpr std::array<std::string_view, 3> kMetrics = {"temperature", "humidity", "pressure"};
constexpr std::array<std::string_view, 4> kStates = {"new", "paid", "sent", "returned"};
constexpr std::array<std::string_view, 5> kProducts = {"lamp", "chair", "kettle", "atlas", "umbrella"};

std::string reading(Random& random, uint64_t number) {
  const std::string_view metric = one_of(random, kMetrics);
  const uint64_t tenths = below(random, 1000);
  return fmt::format(
      R"({{"id":"r{}","deviceId":"dev-{:02}","at":"2026-03-{:02}T{:02}:{:02}:00Z","metric":"{}","value":{}.{}}})",
      number, below(random, 50), number / 1440 % 28 + 1, number / 60 % 24, number % 60, metric, tenths / 10,
      tenths % 10);
}

std::string person(Random& random, uint64_t number) {
  const std::string_view name = one_of(random, kNames);
  const std::string_view city = one_of(random, kCities);
  return fmt::format(
      R"({{"id":"p{}","name":"{}","age":{},"address":{{"city":"{}","street":"{} Long Lane"}},"tags":["t{}","t{}"]}})",
      number, name, 18 + below(random, 70), city, below(random, 200) + 1, below(random, 9), below(random, 9));
}

std::string order(Random& random, uint64_t number) {
  std::string lines;
  const uint64_t count = 1 + below(random, 4);
  for (uint64_t i = 0; i < count; ++i) {
    const std::string_view product = one_of(random, kProducts);
    const uint64_t pieces = 1 + below(random, 5);
    lines += fmt::format(R"({}{{"product":"{}","quantity":{},"price":{}.5}})", i == 0 ? "" : ",", product,
                         pieces, 5 + below(random, 90));
  }
  const std::string_view state = one_of(random, kStates);
  return fmt::format(R"({{"id":"o{}","customerId":"c{}","state":"{}","lines":[{}]}})", number,
                     below(random, 200), state, lines);
}

struct ItemKind {
  std::string_view name;
  std::string_view partition_key;
  std::string (*make)(Random& random, uint64_t number);
};
constexpr ItemKind kItemKinds[] = {{"readings", "/deviceId", reading},
                                   {"people", "/address/city", person},
                                   {"orders", "/customerId", order}};

// False if the container is there; an error if it cannot be made.
Result<void> make_container(Database& database, const std::string& name, const ItemKind& kind) {
  auto present = partition_key_of(database, name);
  if (!present) return Failure(std::move(present.error()));
  if (present->has_value()) return {};
  return database.create_container(
      fmt::format(R"({{"id":{},"partitionKey":{{"paths":["{}"]}}}})", json_string(name), kind.partition_key));
}

}  // namespace

Outcome generate_command(Session& session, const Words& words) {
  const auto kind = std::ranges::find(kItemKinds, words[0], &ItemKind::name);
  if (kind == std::end(kItemKinds))
    return wrong_usage(".generate",
                       fmt::format("there is no kind '{}', only readings, people, orders", words[0]));
  uint64_t count = 1000;
  if (words.size() > 2) {
    const char* end = words[2].data() + words[2].size();
    const auto [stopped, error] = std::from_chars(words[2].data(), end, count);
    if (error != std::errc() || stopped != end)
      return wrong_usage(".generate", fmt::format("'{}' is no number of items", words[2]));
  }
  if (const auto made = make_container(session.database(), words[1], *kind); !made)
    return failed(made.error());
  auto container = session.database().container(words[1]);
  if (!container) return failed(container.error());

  const Interruptible interruptible(session.database());
  Progress progress(0);
  ImportOptions options;
  options.upsert = true;
  options.progress = [&](uint64_t bytes, uint64_t items) {
    progress.show(bytes, items);
    return true;
  };
  Random random(1);
  uint64_t number = 0;
  std::string line;
  size_t at = 0;
  const auto result = container->import(
      [&](char* buffer, size_t capacity) -> int64_t {
        if (at == line.size()) {
          if (number == count) return 0;
          line = kind->make(random, number++) + "\n";
          at = 0;
        }
        const size_t taken = line.copy(buffer, capacity, at);
        at += taken;
        return static_cast<int64_t>(taken);
      },
      options);
  progress.clear();
  if (!result) return failed(result.error());
  tell("{} items generated\n", result->items);
  return Outcome::done;
}

}  // namespace quire::shell
