#include "engine/catalog/script_seals.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/file/file_cursor.h"

namespace quire::engine {
namespace {

constexpr std::string_view kSealRow = "seal/";

void append_number(std::string& bytes, uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift);
}

std::string prefix_of(ContainerNumber container) {
  std::string prefix(kSealRow);
  append_number(prefix, static_cast<uint32_t>(container));
  return prefix;
}

std::string row_name(ContainerNumber container, sql::ScriptKind kind, std::string_view name) {
  return prefix_of(container).append(script_kind_name(kind).substr(0, 1)).append(name);
}

// 32 hexadecimal digits; anything else (none yet, "uninitialized") is no identity.
bool read_id(const std::string& path, HashKey& key) {
  std::string digits;
  std::ifstream file(path);
  if (!std::getline(file, digits) || digits.size() != 2 * key.size()) return false;
  for (size_t i = 0; i < key.size(); ++i) {
    const char* const pair = digits.data() + 2 * i;
    const auto [end, error] = std::from_chars(pair, pair + 2, key[i], 16);
    if (error != std::errc() || end != pair + 2) return false;
  }
  return key != HashKey{};
}

HashKey random_key() {
  std::random_device random;
  HashKey key;
  for (unsigned char& byte : key) byte = static_cast<unsigned char>(random());
  return key;
}

// For the user alone. Who comes second leaves it as it is.
void make_id(const std::string& path) {
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  std::string digits;
  for (const unsigned char byte : random_key()) digits += fmt::format("{:02x}", byte);
  digits += '\n';
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return;
  if (write(file, digits.data(), digits.size()) != static_cast<ssize_t>(digits.size())) unlink(path.c_str());
  close(file);
}

// As the XDG base directory specification has it; empty where there is no home.
std::string own_id_path() {
  if (const char* const state = std::getenv("XDG_STATE_HOME"); state != nullptr && *state == '/')
    return std::string(state) + "/quire/machine-id";
  const char* const home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? std::string(home) + "/.local/state/quire/machine-id"
                                         : std::string();
}

}  // namespace

MachineIdentity identity_from(const std::string& machine_id, const std::string& own_id) {
  MachineIdentity identity;
  identity.is_lasting = read_id(machine_id, identity.key);
  if (!identity.is_lasting && !own_id.empty()) {
    if (access(own_id.c_str(), F_OK) != 0) make_id(own_id);
    identity.is_lasting = read_id(own_id, identity.key);
  }
  if (!identity.is_lasting) identity.key = random_key();
  return identity;
}

const MachineIdentity& machine_identity() {
  static const MachineIdentity identity = identity_from("/etc/machine-id", own_id_path());
  return identity;
}

KeyedHash ScriptSeals::seal_of(ContainerNumber container, const ScriptDefinition& script) const {
  std::string message;
  message.reserve(64 + script.name.size() + script.body.size());
  append_number(message, database_);
  append_number(message, geteuid());
  append_number(message, static_cast<uint32_t>(container));
  for (const auto part : {static_cast<int>(script.kind), static_cast<int>(script.time),
                          static_cast<int>(script.operation), static_cast<int>(script.is_always)})
    message += static_cast<char>(part);
  append_number(message, static_cast<uint32_t>(script.name.size()));
  message += script.name;
  message += script.body;
  const std::lock_guard lock(mutex_);
  for (const Known& known : known_)
    if (known.message == message) return known.hash;
  const KeyedHash hash = keyed_hash(machine_identity().key, message);
  known_[next_known_++ % kMostKnown] = {std::move(message), hash};
  return hash;
}

Result<bool> ScriptSeals::has(const Transaction& transaction, ContainerNumber container,
                              const ScriptDefinition& script) const {
  QUIRE_ASSIGN(const std::optional<Bytes> row,
               transaction.get(meta_, row_name(container, script.kind, script.name)));
  if (!row) return false;
  const KeyedHash seal = seal_of(container, script);
  return *row == Bytes(seal.data(), seal.size());
}

Result<void> ScriptSeals::put(WriteTransaction& transaction, ContainerNumber container,
                              const ScriptDefinition& script) const {
  const KeyedHash seal = seal_of(container, script);
  return transaction.put(meta_, row_name(container, script.kind, script.name), {seal.data(), seal.size()});
}

Result<void> ScriptSeals::erase(WriteTransaction& transaction, ContainerNumber container,
                                sql::ScriptKind kind, std::string_view name) const {
  QUIRE_TRY(transaction.erase(meta_, row_name(container, kind, name)));
  return {};
}

Result<void> ScriptSeals::erase_all(WriteTransaction& transaction, Table meta, ContainerNumber container) {
  const std::string prefix = prefix_of(container);
  std::vector<std::string> rows;
  {
    QUIRE_ASSIGN(FileCursor cursor, FileCursor::open(transaction, meta));
    QUIRE_ASSIGN(bool is_there, cursor.seek(prefix));
    while (is_there && cursor.key().starts_with(prefix)) {
      rows.emplace_back(cursor.key());
      QUIRE_ASSIGN(is_there, cursor.next());
    }
  }
  for (const std::string& row : rows) QUIRE_TRY(transaction.erase(meta, row));
  return {};
}

}  // namespace quire::engine
