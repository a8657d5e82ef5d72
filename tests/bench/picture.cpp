#include "tests/bench/picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "tests/bench/must.h"
#include "tests/bench/work.h"

namespace quire::bench {
namespace {

constexpr int kWidth = 920;
constexpr int kLabels = 170;  // left of the bars
constexpr int kRight = 60;    // room for the last bar's number
constexpr int kLine = 17;     // height of a row
constexpr int kHead = 84;
constexpr double kLeast = 0.125;  // of the ratios' scale, in powers of two
constexpr double kMost = 64;
constexpr int kGrowthHeight = 260;
constexpr double kGrowthMost = 4;  // times the cost at the smallest size
constexpr const char* kColours[] = {"#2a78b8", "#c2571a", "#2e8b57", "#8a4fbf", "#b8860b",
                                    "#c03a5b", "#4a6b7c", "#6b8e23", "#d17ab0", "#222222"};

// By work in the order of the table, its results from the smallest size on.
using ByWork = std::vector<std::vector<const Comparison*>>;
ByWork by_work(const Report& report) {
  std::map<std::string_view, std::vector<const Comparison*>> found;
  for (const Comparison& result : report.results) found[result.work].push_back(&result);
  ByWork all;
  for (const Work& work : works()) {
    auto& results = found[work.name];
    std::ranges::sort(results, {}, &Comparison::items);
    if (!results.empty()) all.push_back(results);
  }
  return all;
}

class Svg {
 public:
  template <typename... Arguments>
  void add(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(body_), format, std::forward<Arguments>(arguments)...);
    body_ += '\n';
  }
  void text(double x, double y, std::string_view anchor, std::string_view words) {
    add(R"(<text x="{:.0f}" y="{:.0f}" text-anchor="{}">{}</text>)", x, y, anchor, escaped(words));
  }
  void line(double x1, double y1, double x2, double y2, std::string_view colour) {
    add(R"(<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" stroke="{}"/>)", x1, y1, x2, y2, colour);
  }
  void write(const std::string& path, int height) const {
    const File file = open_file(path, "wb");
    fmt::print(
        file.get(),
        R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{0}" height="{1}" )"
        R"(font-family="sans-serif" font-size="12"><rect width="{0}" height="{1}" fill="#fff"/>{2}</svg>)"
        "\n",
        kWidth, height, "\n" + body_);
  }

 private:
  static std::string escaped(std::string_view words) {
    std::string text;
    for (const char byte : words) {
      if (byte == '<')
        text += "&lt;";
      else if (byte == '&')
        text += "&amp;";
      else
        text += byte;
    }
    return text;
  }
  std::string body_;
};

double x_of_ratio(double ratio) {
  const double share = std::log2(std::clamp(ratio, kLeast, kMost) / kLeast) / std::log2(kMost / kLeast);
  return kLabels + share * (kWidth - kLabels - kRight);
}

std::string times(double ratio) {
  return fmt::format("{:.{}f}", ratio, ratio < 10 ? 2 : ratio < 100 ? 1 : 0);
}

// The size at which most works were measured, the greatest of several such.
uint64_t usual_size(const Report& report) {
  std::map<uint64_t, size_t> works_of;
  for (const Comparison& result : report.results) ++works_of[result.items];
  const auto by_works = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto usual = std::max_element(works_of.rbegin(), works_of.rend(), by_works);
  return usual == works_of.rend() ? 0 : usual->first;
}

// The bars, from `top` down, of the usual size where a work has it; gives where they end.
int draw_bars(Svg& svg, const ByWork& works, uint64_t size, int top) {
  std::vector<const Comparison*> rows;
  for (const auto& results : works) {
    const auto found = std::ranges::find(results, size, &Comparison::items);
    const Comparison* const row = found != results.end() ? *found : results.back();
    if (row->ratio(Peer::sqlite)) rows.push_back(row);
  }
  const int bottom = top + static_cast<int>(rows.size()) * kLine;
  for (double ratio = kLeast; ratio <= kMost; ratio *= 2) {
    svg.line(x_of_ratio(ratio), top - 4, x_of_ratio(ratio), bottom, ratio == 1 ? "#333" : "#ddd");
    svg.text(x_of_ratio(ratio), top - 8, "middle",
             ratio < 1 ? fmt::format("1/{:.0f}", 1 / ratio) : times(ratio));
  }
  int y = top;
  for (const Comparison* row : rows) {
    const double ratio = *row->ratio(Peer::sqlite);
    const double from = x_of_ratio(std::min(1.0, ratio)), to = x_of_ratio(std::max(1.0, ratio));
    svg.text(kLabels - 8, y + 12, "end", row->work);
    svg.add(R"(<rect x="{:.1f}" y="{}" width="{:.1f}" height="{}" fill="{}"/>)", from, y + 2, to - from,
            kLine - 4, ratio >= 1 ? "#2a78b8" : "#c2571a");
    svg.text(to + 4, y + 12, "start", times(ratio));
    if (const auto floor = row->ratio(Peer::lmdb))
      svg.line(x_of_ratio(*floor), y + 1, x_of_ratio(*floor), y + kLine - 1, "#000");
    if (const auto duckdb = row->ratio(Peer::duckdb))
      svg.add(R"(<circle cx="{:.1f}" cy="{:.1f}" r="4" fill="#f5c518" stroke="#000"/>)", x_of_ratio(*duckdb),
              y + kLine / 2.0);
    y += kLine;
  }
  return bottom;
}

// What a unit of work costs beside the smallest size: 1 is as much.
double cost(const Comparison& result, const Comparison& smallest) {
  const double now = *result.figure(Peer::quire), then = *smallest.figure(Peer::quire);
  if (result.more_is_better) return then / now;
  if (result.unit == "MB") return now / then;  // memory, which should not grow with the items at all
  return (now / static_cast<double>(result.items)) / (then / static_cast<double>(smallest.items));
}

int draw_growth(Svg& svg, const ByWork& works, int top) {
  ByWork grown;
  for (const auto& results : works)
    if (results.size() > 1 && results.front()->figure(Peer::quire)) grown.push_back(results);
  if (grown.empty()) return top;
  const double least = static_cast<double>(grown.front().front()->items);
  const double most = static_cast<double>(grown.front().back()->items);
  const int first = top + 46, bottom = first + kGrowthHeight;
  const double right = kWidth - kLabels;
  const auto x_of = [&](uint64_t items) {
    return kRight + std::log(static_cast<double>(items) / least) / std::log(most / least) * (right - kRight);
  };
  const auto y_of = [&](double cost) {
    return bottom - std::min(cost, kGrowthMost) / kGrowthMost * kGrowthHeight;
  };
  svg.text(8, top + 28, "start",
           "Growth: what an item, read, query or commit costs, and the memory held, in times those at the "
           "smallest size");
  for (int cost = 0; cost <= static_cast<int>(kGrowthMost); ++cost) {
    svg.line(kRight, y_of(cost), right, y_of(cost), cost == 1 ? "#333" : "#ddd");
    svg.text(kRight - 6, y_of(cost) + 4, "end", std::to_string(cost));
  }
  for (const Comparison* result : grown.front())
    svg.text(x_of(result->items), bottom + 16, "middle", fmt::format(fmt::runtime("{:L}"), result->items));
  for (size_t i = 0; i < grown.size(); ++i) {
    const char* const colour = kColours[i % std::size(kColours)];
    std::string points;
    for (const Comparison* result : grown[i])
      fmt::format_to(std::back_inserter(points), "{:.1f},{:.1f} ", x_of(result->items),
                     y_of(cost(*result, *grown[i].front())));
    svg.add(R"(<polyline points="{}" fill="none" stroke="{}" stroke-width="2"/>)", points, colour);
    const double y = first + 14.0 + static_cast<double>(i) * kLine;
    svg.line(right + 12, y - 4, right + 30, y - 4, colour);
    svg.text(right + 36, y, "start", grown[i].front()->work);
  }
  return bottom + 24;
}

}  // namespace

void write_picture(const Report& report, const std::string& path) {
  Svg svg;
  const ByWork works = by_work(report);
  svg.add(
      R"(<text x="8" y="22" font-size="16">Quire beside SQLite: how many times as fast, or as small</text>)");
  svg.text(8, 40, "start", report.machine);
  svg.text(
      8, 56, "start",
      "Bars: against the better of SQLite's JSON text and JSONB. Black line: against raw LMDB, the floor. "
      "Yellow: against DuckDB.");
  const int bars_end = draw_bars(svg, works, usual_size(report), kHead);
  const int end = draw_growth(svg, works, bars_end);
  svg.write(path, end + 12);
}

}  // namespace quire::bench
