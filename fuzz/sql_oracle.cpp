// Bytes as the choices that make documents and a query over them: the engine and a naive interpreter give the
// same rows, and each predicate divides all rows in three (tests/oracle).
#include <cstdint>
#include <cstdio>
#include <vector>

#include "fuzz/require.h"
#include "tests/oracle/check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace quire::sql::oracle;
  Choices choices(std::vector<uint32_t>(data, data + size));
  const Case made = make_case(choices);
  const Verdict verdict = check(made);
  if (verdict.failure) std::fputs(report({made, *verdict.failure}).c_str(), stderr);
  quire::fuzz::require(!verdict.failure);
  return 0;
}
