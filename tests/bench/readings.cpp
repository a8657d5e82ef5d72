#include "tests/bench/readings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "tests/bench/must.h"
#include "tests/bench/random.h"

namespace quire::bench {
namespace {

constexpr std::array kCities = {"Seattle", "Lagos", "Prague", "Kyiv", "Quito",
                                "Hanoi",   "Perth", "Oslo",   "Lima", "Cairo"};
constexpr std::array kMetrics = {"Temperature", "Humidity", "Pressure", "Voltage"};
// With so many decimals, as JSON is printed canonically: no zeros at the end, no -0.
std::string decimal(double number, int decimals) {
  std::string text = fmt::format("{:.{}f}", number, decimals);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

void append_reading(Random& random, uint64_t i, uint32_t device, std::string& out) {
  const auto to = std::back_inserter(out);
  fmt::format_to(to, R"({{"id":"XMS-{:09}","deviceId":"dev-{:06}",)", i, device);
  fmt::format_to(to, R"("readingTime":"2026-{:02}-{:02}T{:02}:{:02}:00Z",)", 1 + i % 12, 1 + i % 28, i % 24,
                 i % 60);
  fmt::format_to(to, R"("metricType":"{}","unit":"Fahrenheit",)", kMetrics[random.below(kMetrics.size())]);
  fmt::format_to(to, R"("metricValue":{},)", decimal(random.between(-20, 120), 2));
  fmt::format_to(to, R"("location":{{"type":"Point","coordinates":[{},)",
                 decimal(random.between(-180, 180), 5));
  fmt::format_to(to, R"({}],)", decimal(random.between(-90, 90), 5));
  fmt::format_to(to, R"("city":"{}"}},"tags":[)", kCities[random.below(kCities.size())]);
  const uint64_t tags = random.below(6);
  for (uint64_t tag = 0; tag < tags; ++tag)
    fmt::format_to(to, R"({}"{}")", tag == 0 ? "" : ",",
                   std::string(5, static_cast<char>('a' + random.below(10))));
  fmt::format_to(to, R"(],"owner":{{"first":"Thomas","last":"Andersen",)");
  fmt::format_to(to, R"("emails":[{{"email":"t{}@andersen.com","type":"work"}},)", i);
  fmt::format_to(to, R"({{"email":"h{}@andersen.com","type":"home"}}]}},)", i);
  fmt::format_to(to, R"("note":"{}","active":{},"seq":{}}})", std::string(random.below(200), 'x'), i % 2 == 1,
                 i);
  out += '\n';
}

}  // namespace

Readings::Readings(std::string path, uint64_t count) : path_(std::move(path)) {
  const File file = open_file(path_, "wb");
  Random random(1);
  device_of_.reserve(count);
  std::string block;
  for (uint64_t i = 0; i < count; ++i) {
    device_of_.push_back(static_cast<uint32_t>(random.below(std::max<uint64_t>(1, count / 100))));
    append_reading(random, i, device_of_.back(), block);
    if (block.size() < size_t{1} << 20 && i + 1 < count) continue;
    must(std::fwrite(block.data(), 1, block.size(), file.get()) == block.size(), "cannot write " + path_);
    bytes_ += block.size();
    block.clear();
  }
}

ReadingKey Readings::key(uint64_t reading) const {
  return {fmt::format("dev-{:06}", device_of_[reading]), fmt::format("XMS-{:09}", reading)};
}

std::vector<ReadingKey> Readings::sample(size_t count) const {
  Random random(2);
  std::vector<ReadingKey> keys;
  keys.reserve(count);
  for (size_t i = 0; i < count; ++i) keys.push_back(key(random.below(device_of_.size())));
  return keys;
}

ReadingKeyView key_of_line(std::string_view line) {
  const auto member = [line](std::string_view opening) {
    const size_t start = line.find(opening) + opening.size();
    return line.substr(start, line.find('"', start) - start);
  };
  return {member(R"("deviceId":")"), member(R"("id":")")};
}

}  // namespace quire::bench
