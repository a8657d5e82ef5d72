#include "tests/crash/restart.h"

#include <fcntl.h>
#include <unistd.h>

#include "engine/file/anchor.h"
#include "engine/file/file_state.h"

namespace quire::tests {

void as_after_restart(const std::string& path) {
  const engine::Descriptor file(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (file.number() < 0) return;
  const auto page_bytes = static_cast<uint32_t>(sysconf(_SC_PAGESIZE));
  auto record = engine::read_anchor(file.number(), page_bytes);
  // Where there is a log, nobody asks when the machine was started.
  if (!record || !record->is_set || record->has_log) return;
  record->boot.fill('x');
  static_cast<void>(engine::write_anchor(file.number(), page_bytes, *record));
}

}  // namespace quire::tests
