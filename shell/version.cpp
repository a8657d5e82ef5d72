#include "shell/version.h"

#include <fmt/format.h>
#include <histedit.h>
#include <utf8proc.h>
#include <zlib.h>
#include <zstd.h>

#include <CLI/Version.hpp>

#include "quire/quire.h"

namespace quire::shell {

std::string version_text() {
  return fmt::format(
      "quire {} (commit {})\n{}\nshell: libedit {}.{}, utf8proc {}, fmt {}.{}.{}, CLI11 {}, zlib {}, zstd {}",
      quire_version(), QUIRE_COMMIT, quire_libraries(), LIBEDIT_MAJOR, LIBEDIT_MINOR, utf8proc_version(),
      FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100, CLI11_VERSION, zlibVersion(),
      ZSTD_versionString());
}

}  // namespace quire::shell
