#include "engine/container/request_charge.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace quire::engine {
namespace {

struct SizeRow {
  double kibibytes;
  double read;
  double write;  // without index terms
};
// As published, at session consistency. Between two sizes the charge grows evenly.
constexpr SizeRow kSizes[] = {
    {1, 1.00, 4.95},     {2, 1.04, 6.29},      {4, 1.14, 6.67},      {8, 1.33, 7.04},
    {16, 1.67, 9.52},    {32, 2.19, 11.23},    {64, 4.76, 22.67},    {128, 9.95, 48.19},
    {256, 20.28, 98.29}, {512, 40.95, 184.57}, {1024, 145.9, 625.0}, {2048, 291.8, 1250.0},
};

// As published.
constexpr double kTerm = 0.2;
constexpr double kPatchOperation = 0.4;
// Not published: the least that the service is seen to charge for a query, and shares of what makes it more.
constexpr uint64_t kQuery = 230;  // hundredths: it is told again with each row
constexpr uint64_t kItemOfQuery = 4;
constexpr uint64_t kRowOfQuery = 1;
constexpr double kChangeOfFeed = 0.05;  // each kibibyte
constexpr double kEmptyAnswer = 1.0;

// The service tells two digits.
double rounded(double charge) noexcept {
  return std::round(charge * 100) / 100;
}

double by_size(uint64_t json_bytes, double SizeRow::* column) noexcept {
  const double kibibytes = static_cast<double>(json_bytes) / 1024;
  if (kibibytes <= kSizes[0].kibibytes) return kSizes[0].*column;
  // Items larger than the service takes: as its largest, in proportion.
  const SizeRow& last = std::end(kSizes)[-1];
  if (kibibytes > last.kibibytes) return last.*column * (kibibytes / last.kibibytes);
  const SizeRow* const upper = std::ranges::lower_bound(kSizes, kibibytes, {}, &SizeRow::kibibytes);
  const SizeRow& lower = upper[-1];
  const double share = (kibibytes - lower.kibibytes) / (upper->kibibytes - lower.kibibytes);
  return lower.*column + share * (upper->*column - lower.*column);
}

double terms_charge(uint64_t terms) noexcept {
  return kTerm * static_cast<double>(terms);
}

}  // namespace

double read_charge(uint64_t json_bytes) noexcept {
  return json_bytes == 0 ? kEmptyAnswer : rounded(by_size(json_bytes, &SizeRow::read));
}

double create_charge(uint64_t json_bytes, uint64_t terms) noexcept {
  return rounded(by_size(json_bytes, &SizeRow::write) + terms_charge(terms));
}

double replace_charge(uint64_t json_bytes, uint64_t terms) noexcept {
  return rounded(2 * by_size(json_bytes, &SizeRow::write) + terms_charge(terms));
}

double delete_charge(uint64_t json_bytes, uint64_t terms) noexcept {
  return create_charge(json_bytes, terms);
}

double patch_charge(uint64_t operations) noexcept {
  return rounded(kPatchOperation * static_cast<double>(operations));
}

double procedure_charge() noexcept {
  return kEmptyAnswer;
}

double query_charge(uint64_t items_read, uint64_t rows) noexcept {
  return static_cast<double>(kQuery + kItemOfQuery * items_read + kRowOfQuery * rows) / 100;
}

double feed_charge(uint64_t json_bytes) noexcept {
  if (json_bytes == 0) return kEmptyAnswer;
  return rounded(kChangeOfFeed * std::max(1.0, static_cast<double>(json_bytes) / 1024));
}

}  // namespace quire::engine
