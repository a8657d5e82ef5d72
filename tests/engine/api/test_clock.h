// A clock that a test sets, for a database that it sees through quire.hpp.
#pragma once

#include <cstdint>

#include "quire/quire.h"

namespace quire::tests {

// Unix seconds, for transactions of the database that begin from now on.
void set_time(quire_database* database, uint32_t seconds);

}  // namespace quire::tests
