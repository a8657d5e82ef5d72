// Damage to a database file, decided by a number alone.
#pragma once

#include <cstdint>
#include <string>

namespace quire::tests {

// Changes the file's bytes in one to three ways that follow from `seed`. What was done, for a message.
std::string mutate(std::string& file, uint64_t seed);

}  // namespace quire::tests
