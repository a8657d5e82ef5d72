// What the opaque handles of quire.h are. A caller's pointer owns its handle; the functions that release one
// take it back into a unique_ptr. Members are in order of construction: the OpenHandle is counted out last.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/api/database.h"
#include "engine/container/container.h"
#include "engine/container/feed.h"
#include "engine/file/environment.h"
#include "engine/file/this_thread.h"
#include "engine/query/prepared_statement.h"
#include "quire/quire.h"
#include "sql/value/value.h"

struct quire_database : quire::engine::Database {
  using Database::Database;
};

struct quire_container {
  quire_container(quire_database& database, std::shared_ptr<quire::engine::ContainerStore> store)
      : database(database), handle(database), store(std::move(store)) {}

  quire_database& database;
  quire::engine::OpenHandle handle;
  std::shared_ptr<quire::engine::ContainerStore> store;  // shared with Database and statements
};

struct quire_transaction {
  quire_transaction(quire_database& database, std::unique_ptr<quire::engine::ExplicitWrite> write)
      : database(database), handle(database), write(std::move(write)) {}

  quire_database& database;
  quire::engine::OpenHandle handle;
  std::unique_ptr<quire::engine::ExplicitWrite> write;
  quire::engine::ThreadNumber owner = quire::engine::this_thread();
  std::weak_ptr<const void> owners_life = quire::engine::life_of_this_thread();
};

struct quire_snapshot {
  quire_snapshot(quire_database& database, quire::engine::ReadTransaction transaction)
      : database(database), handle(database), transaction(std::move(transaction)) {}

  // Ends a snapshot that is older than the limit of reader_age: it then has no transaction until it is
  // renewed.
  quire::Result<void> check_age();
  quire::Result<void> renew();
  // What is read from it takes the names of its members from there.
  void keep(const std::shared_ptr<quire::engine::ContainerStore>& store);

  quire_database& database;
  quire::engine::OpenHandle handle;
  // Containers of the values that were read, which may be closed and dropped before the values end. That of
  // the last one stands last.
  std::vector<std::shared_ptr<quire::engine::ContainerStore>> read_from;
  std::optional<quire::engine::ReadTransaction> transaction;
  std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();
};

// A call of a native procedure, while it lasts.
struct quire_call {
  quire::engine::NativeCall& call;
};

struct quire_feed {
  quire_feed(quire_container& container, std::unique_ptr<quire::engine::Feed> feed)
      : handle(container.database), store(container.store), feed(std::move(feed)) {}

  quire::engine::OpenHandle handle;
  std::shared_ptr<quire::engine::ContainerStore> store;
  std::unique_ptr<quire::engine::Feed> feed;
  bool has_entry = false;
};

struct quire_statement {
  quire_statement(quire_database& database, std::unique_ptr<quire::engine::PreparedStatement> statement)
      : handle(database), statement(std::move(statement)) {}

  quire::engine::OpenHandle handle;
  std::unique_ptr<quire::engine::PreparedStatement> statement;
  quire::sql::Value row;  // undefined where there is none
  // Whose item the row is, as it is stored; null: it is a value as it is.
  const quire::sql::Collection* stored_items = nullptr;
  quire::sql::Arena arena;    // of the row, where it was made whole
  bool has_lost_row = false;  // for want of memory
  std::string json;           // of the row, once asked for
  // Within quire_step, whose callbacks may come back; the release then waits until it ends.
  std::atomic<bool> is_stepping = false;
  bool is_released = false;
};
