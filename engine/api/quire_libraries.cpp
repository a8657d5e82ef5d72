// The versions of the libraries that Quire is built of, of those that tell theirs.
#include <fmt/format.h>
#include <simdjson.h>
#include <utf8proc.h>
#include <xxhash.h>

#include <GeographicLib/Config.h>
#include <string>

#include "engine/file/environment.h"
#include "quire/quire.h"

namespace {

std::string libraries() {
  return fmt::format("{}, simdjson {}.{}.{}, fmt {}.{}.{}, utf8proc {}, GeographicLib {}, xxHash {}.{}.{}",
                     quire::engine::storage_library(), int{simdjson::SIMDJSON_VERSION_MAJOR},
                     int{simdjson::SIMDJSON_VERSION_MINOR}, int{simdjson::SIMDJSON_VERSION_REVISION},
                     FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100, utf8proc_version(),
                     GEOGRAPHICLIB_VERSION_STRING, XXH_VERSION_MAJOR, XXH_VERSION_MINOR, XXH_VERSION_RELEASE);
}

}  // namespace

extern "C" const char* quire_libraries(void) {
  static const std::string text = libraries();
  return text.c_str();
}
