// Quire for C++20: handles that close themselves, errors as values, rows as a range. Header-only over the C
// ABI of quire.h, whose comments hold here too; any compiler and standard library can use one binary of the
// library.
//
//   auto database = quire::Database::open("app.quire");
//   if (!database) return complain(database.error());
//   auto statement = database->prepare("SELECT VALUE c.name FROM cities c WHERE c.country = @country");
//   if (!statement) return complain(statement.error());
//   if (auto bound = statement->bind("country", "FR"); !bound) return complain(bound.error());
//   for (quire::Value name : statement->rows()) std::cout << name.as_string() << '\n';
//   if (statement->error()) return complain(*statement->error());
//
// Objects are move-only and release their handle when they end. Containers, statements, snapshots and
// transactions must end before their Database. No function throws, except std::bad_alloc, Result::value() on
// an error, and what a callback given to Container::import throws. Without exceptions (-fno-exceptions)
// value() of an error ends the program, as memory that runs out does.
#ifndef QUIRE_QUIRE_HPP
#define QUIRE_QUIRE_HPP

#if __cplusplus <= 201703L
#error "quire.hpp needs C++20: compile with -std=c++20, or use quire.h"
#endif

#include <algorithm>
#include <array>
#include <chrono>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <initializer_list>
#include <istream>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>
#include <version>

#include "quire/quire.h"

// Result is std::expected where there is one. A program may mix files of both kinds, so each has names of its
// own.
#if defined(__cpp_lib_expected)
#include <expected>
#define QUIRE_INLINE_NAMESPACE v1_expected
#else
#define QUIRE_INLINE_NAMESPACE v1
#endif

namespace quire {
inline namespace QUIRE_INLINE_NAMESPACE {
namespace detail {

// Calls `call`; where that throws, what `caught` gives for the exception, or for null where it is none of the
// standard's. A program without exceptions (-fno-exceptions) has nothing to catch.
template <typename Call, typename Caught>
auto catching(const Call& call, [[maybe_unused]] const Caught& caught) -> decltype(call()) {
#if defined(__cpp_exceptions)
  try {
    return call();
  } catch (const std::exception& exception) {
    return caught(&exception);
  } catch (...) {
    return caught(nullptr);
  }
#else
  return call();
#endif
}

}  // namespace detail

// ---- Errors

struct Error {
  int code = QUIRE_OK;  // enum quire_code
  int status = 0;       // what Azure Cosmos DB would answer: 404
  std::string message;
  uint64_t offset = 0;  // of the place in the SQL or JSON text; line 0: nowhere
  uint32_t line = 0;
  uint32_t column = 0;
  uint32_t retry_after_ms = 0;  // QUIRE_TOO_MANY_REQUESTS: how long to wait

  const char* name() const noexcept { return quire_code_name(code); }  // "not_found"
};

#if defined(__cpp_lib_expected)

template <typename T>
using Result = std::expected<T, Error>;
using Failure = std::unexpected<Error>;

#else

// Thrown by Result::value() where there is none.
class BadResultAccess : public std::exception {
 public:
  explicit BadResultAccess(Error error) : error_(std::move(error)) {}
  const char* what() const noexcept override { return error_.message.c_str(); }
  const Error& error() const noexcept { return error_; }

 private:
  Error error_;
};

namespace detail {

[[noreturn]] inline void refuse_access([[maybe_unused]] const Error& error) {
#if defined(__cpp_exceptions)
  throw BadResultAccess(error);
#else
  std::abort();
#endif
}

}  // namespace detail

struct Failure {
  explicit Failure(Error why) : error(std::move(why)) {}
  Error error;
};

template <typename T>
class Result;

namespace detail {

template <typename T>
inline constexpr bool is_result = false;
template <typename T>
inline constexpr bool is_result<Result<T>> = true;

}  // namespace detail

// A value, or why there is none: the part of std::expected's interface that needs no C++23.
template <typename T>
class [[nodiscard]] Result {
 public:
  // Of no other result: whether there is a value in it would be a bool.
  template <typename U = T>
    requires std::constructible_from<T, U> && (!detail::is_result<std::remove_cvref_t<U>>)
  explicit(!std::convertible_to<U, T>) Result(U&& value)
      : state_(std::in_place_index<0>, std::forward<U>(value)) {}
  Result(Failure failure) : state_(std::in_place_index<1>, std::move(failure.error)) {}

  bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }

  T& operator*() & noexcept { return *std::get_if<0>(&state_); }
  const T& operator*() const& noexcept { return *std::get_if<0>(&state_); }
  T&& operator*() && noexcept { return std::move(*std::get_if<0>(&state_)); }
  T* operator->() noexcept { return std::get_if<0>(&state_); }
  const T* operator->() const noexcept { return std::get_if<0>(&state_); }

  T& value() & { return checked(), **this; }
  const T& value() const& { return checked(), **this; }
  T&& value() && { return checked(), *std::move(*this); }
  template <typename U>
  T value_or(U&& other) const& {
    return has_value() ? **this : static_cast<T>(std::forward<U>(other));
  }

  Error& error() & noexcept { return *std::get_if<1>(&state_); }
  const Error& error() const& noexcept { return *std::get_if<1>(&state_); }
  Error&& error() && noexcept { return std::move(*std::get_if<1>(&state_)); }

 private:
  void checked() const {
    if (!has_value()) detail::refuse_access(error());
  }
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Failure failure) : error_(std::move(failure.error)) {}

  bool has_value() const noexcept { return !error_.has_value(); }
  explicit operator bool() const noexcept { return has_value(); }
  void operator*() const noexcept {}
  void value() const {
    if (!has_value()) detail::refuse_access(*error_);
  }
  Error& error() & noexcept { return *error_; }
  const Error& error() const& noexcept { return *error_; }
  Error&& error() && noexcept { return std::move(*error_); }

 private:
  std::optional<Error> error_;
};

#endif

namespace detail {

inline Error error_of(const quire_error& error) {
  return {error.code, error.status, error.message,       error.offset,
          error.line, error.column, error.retry_after_ms};
}
inline Failure failure(const quire_error& error) {
  return Failure(error_of(error));
}

inline Result<void> checked(int code, const quire_error& error) {
  if (code != QUIRE_OK) return failure(error);
  return {};
}

// A handle that its release function ends.
template <typename Handle, auto kRelease>
struct Release {
  void operator()(Handle* handle) const noexcept { kRelease(handle); }
};
template <typename Handle, auto kRelease>
using Owned = std::unique_ptr<Handle, Release<Handle, kRelease>>;

inline void close_database(quire_database* database) noexcept {
  quire_close(database, nullptr);
}

class Buffer {
 public:
  Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { quire_buffer_release(&bytes_); }
  quire_buffer* get() noexcept { return &bytes_; }
  std::string text() const { return std::string(bytes_.data, bytes_.length); }

 private:
  quire_buffer bytes_{};
};

}  // namespace detail

// ---- Values

enum class Type {
  undefined = QUIRE_UNDEFINED,
  null = QUIRE_NULL,
  boolean = QUIRE_BOOLEAN,
  integer = QUIRE_INTEGER,
  real = QUIRE_REAL,
  string = QUIRE_STRING,
  array = QUIRE_ARRAY,
  object = QUIRE_OBJECT,
};

struct Member;
template <typename Element>
class ValueRange;

// A JSON value, read where it lies; 16 bytes, passed by value. It owns nothing: it is good until the next
// step of its statement, or the end of its snapshot.
class Value {
 public:
  constexpr Value() noexcept = default;  // undefined
  constexpr explicit Value(quire_value value) noexcept : value_(value) {}

  Type type() const noexcept { return static_cast<Type>(quire_value_type(value_)); }
  bool is_undefined() const noexcept { return type() == Type::undefined; }
  bool is_null() const noexcept { return type() == Type::null; }
  bool is_boolean() const noexcept { return type() == Type::boolean; }
  bool is_integer() const noexcept { return type() == Type::integer; }
  bool is_number() const noexcept { return is_integer() || type() == Type::real; }
  bool is_string() const noexcept { return type() == Type::string; }
  bool is_array() const noexcept { return type() == Type::array; }
  bool is_object() const noexcept { return type() == Type::object; }

  // A value of another type gives false, 0 or "".
  bool as_boolean() const noexcept { return quire_value_boolean(value_) != 0; }
  int64_t as_integer() const noexcept { return quire_value_integer(value_); }
  double as_real() const noexcept { return quire_value_real(value_); }
  std::string_view as_string() const noexcept {
    size_t length = 0;
    const char* text = quire_value_string(value_, &length);
    return {text, length};
  }

  // Elements or members. What is not there is undefined, so paths can be chained: value["address"]["zip"].
  size_t size() const noexcept { return quire_value_size(value_); }
  Value operator[](size_t index) const noexcept { return Value(quire_value_element(value_, index)); }
  Value operator[](std::string_view name) const noexcept {
    return Value(quire_value_member(value_, name.data(), name.size()));
  }
  Member member_at(size_t index) const noexcept;
  // for (Value element : value.elements()), for (auto [name, value] : object.members())
  ValueRange<Value> elements() const noexcept;
  ValueRange<Member> members() const noexcept;

  Result<std::string> to_json() const { return to_text(quire_value_json); }
  Result<std::string> to_pretty_json() const { return to_text(quire_value_pretty_json); }

  quire_value c_value() const noexcept { return value_; }

 private:
  Result<std::string> to_text(decltype(&quire_value_json) write) const {
    detail::Buffer buffer;
    quire_error error;
    if (write(value_, buffer.get(), &error) != QUIRE_OK) return detail::failure(error);
    return buffer.text();
  }
  quire_value value_{};
};

struct Member {
  std::string_view name;
  Value value;
};

inline Member Value::member_at(size_t index) const noexcept {
  const char* name = nullptr;
  size_t length = 0;
  const Value value(quire_value_member_at(value_, index, &name, &length));
  return {{name, length}, value};
}

// The elements of an array, or the members of an object in source order.
template <typename Element>
class ValueRange {
 public:
  class iterator {
   public:
    using value_type = Element;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::forward_iterator_tag;
    using iterator_category = std::input_iterator_tag;

    iterator() = default;
    iterator(Value parent, size_t index) noexcept : parent_(parent), index_(index) {}
    Element operator*() const noexcept {
      if constexpr (std::same_as<Element, Value>)
        return parent_[index_];
      else
        return parent_.member_at(index_);
    }
    iterator& operator++() noexcept { return ++index_, *this; }
    iterator operator++(int) noexcept { return {parent_, index_++}; }
    bool operator==(const iterator& other) const noexcept { return index_ == other.index_; }

   private:
    Value parent_;
    size_t index_ = 0;
  };

  ValueRange(Value parent, Type type) noexcept
      : parent_(parent), size_(parent.type() == type ? parent.size() : 0) {}
  iterator begin() const noexcept { return {parent_, 0}; }
  iterator end() const noexcept { return {parent_, size_}; }
  size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }

 private:
  Value parent_;
  size_t size_;
};

inline ValueRange<Value> Value::elements() const noexcept {
  return {*this, Type::array};
}
inline ValueRange<Member> Value::members() const noexcept {
  return {*this, Type::object};
}

namespace detail {

// What may be meant as a text or as a number; whoever passes it to Scalar says which.
template <typename T>
concept character = std::same_as<T, char> || std::same_as<T, wchar_t> || std::same_as<T, char8_t> ||
                    std::same_as<T, char16_t> || std::same_as<T, char32_t>;

}  // namespace detail

// A value to pass in: a parameter, a component of a partition key. Borrows its text for the call.
class Scalar {
 public:
  Scalar(std::nullptr_t) noexcept : scalar_{QUIRE_NULL, 0, 0, nullptr, 0} {}
  Scalar(std::same_as<bool> auto value) noexcept : scalar_{QUIRE_BOOLEAN, value ? 1 : 0, 0, nullptr, 0} {}
  template <std::integral Integer>
    requires(!std::same_as<Integer, bool> && !detail::character<Integer>)
  Scalar(Integer value) noexcept {
    if (std::in_range<int64_t>(value))
      scalar_ = {QUIRE_INTEGER, static_cast<int64_t>(value), 0, nullptr, 0};
    else
      scalar_ = {QUIRE_REAL, 0, static_cast<double>(value), nullptr, 0};
  }
  Scalar(std::floating_point auto value) noexcept
      : scalar_{QUIRE_REAL, 0, static_cast<double>(value), nullptr, 0} {}
  template <typename Text>
    requires std::convertible_to<const Text&, std::string_view>
  Scalar(const Text& text) noexcept : Scalar(std::string_view(text), 0) {}

  // The component of a partition key whose path is missing.
  static Scalar undefined() noexcept { return Scalar(quire_scalar{QUIRE_UNDEFINED, 0, 0, nullptr, 0}); }

  const quire_scalar& c_scalar() const noexcept { return scalar_; }

 private:
  Scalar(std::string_view text, int) noexcept : scalar_{QUIRE_STRING, 0, 0, text.data(), text.size()} {}
  explicit Scalar(quire_scalar scalar) noexcept : scalar_(scalar) {}
  quire_scalar scalar_;
};

// JSON text where a Scalar could stand: statement.bind("point", quire::Json{R"({"x":1})"}).
struct Json {
  std::string_view text;
};

// {} for a container without partition key, "FR", or {"FR", 75, true} for a hierarchical one.
class PartitionKey {
 public:
  PartitionKey() noexcept = default;
  template <typename Component>
    requires std::convertible_to<const Component&, Scalar>
  PartitionKey(const Component& component) noexcept : components_{Scalar(component).c_scalar()}, size_(1) {}
  // One more than any container has is kept of too many, so that the library refuses them.
  PartitionKey(std::initializer_list<Scalar> components) noexcept {
    for (const Scalar& component : components)
      if (size_ < components_.size()) components_[size_++] = component.c_scalar();
  }

  const quire_scalar* data() const noexcept { return components_.data(); }
  size_t size() const noexcept { return size_; }

 private:
  std::array<quire_scalar, 4> components_{};
  size_t size_ = 0;
};

// ---- Statements

class RowRange;

// Belongs to one thread at a time.
class Statement {
 public:
  // `name` with or without its @. Bind before the first step or after a reset; bindings outlive resets.
  Result<void> bind(std::string_view name, Scalar value) {
    quire_error error;
    return detail::checked(quire_bind(handle_.get(), std::string(name).c_str(), value.c_scalar(), &error),
                           error);
  }
  Result<void> bind(std::string_view name, Json json) {
    quire_error error;
    return detail::checked(
        quire_bind_json(handle_.get(), std::string(name).c_str(), json.text.data(), json.text.size(), &error),
        error);
  }

  // Whether there is a next row. The first step takes the snapshot that all rows come from.
  Result<bool> step() {
    quire_error error;
    switch (quire_step(handle_.get(), &error)) {
      case QUIRE_ROW:
        return true;
      case QUIRE_DONE:
        return false;
      default:
        return detail::failure(error);
    }
  }
  // The row of the last step; good until the next step or reset.
  Value row() const noexcept { return Value(quire_row_value(handle_.get())); }
  // The same as compact JSON, as long.
  Result<std::string_view> row_json() {
    quire_error error;
    const char* json = nullptr;
    size_t length = 0;
    if (quire_row_json(handle_.get(), &json, &length, &error) != QUIRE_OK) return detail::failure(error);
    return std::string_view(json, length);
  }

  // All rows from a fresh start: for (Value row : statement.rows()). Look at error() after the loop.
  RowRange rows() noexcept;
  // Why the last loop over rows() ended early, if it did.
  const std::optional<Error>& error() const noexcept { return error_; }

  // From the next run on, an item as a whole comes without _rid, _self, _etag, _attachments and _ts.
  void omit_system_properties() noexcept { quire_omit_system_properties(handle_.get()); }
  // Its runs are not entered into the record of queries that ADVISE judges by.
  void leave_unrecorded() noexcept { quire_leave_unrecorded(handle_.get()); }
  // Ends the snapshot; the statement can be stepped again.
  void reset() noexcept {
    quire_reset(handle_.get());
    error_.reset();
  }

  // In order of first use, without @; good as long as the statement.
  std::vector<std::string_view> parameter_names() const {
    std::vector<std::string_view> names;
    while (const char* name = quire_parameter_name(handle_.get(), names.size())) names.emplace_back(name);
    return names;
  }
  // What the scripts of the run wrote with console.log, a line each; also after a step that failed.
  std::string_view log() const noexcept {
    size_t length = 0;
    const char* text = quire_log(handle_.get(), &length);
    return {text, length};
  }
  quire_statement_stats stats() const noexcept {
    quire_statement_stats stats{};
    quire_stats(handle_.get(), &stats);
    return stats;
  }

  quire_statement* c_handle() const noexcept { return handle_.get(); }

 private:
  friend class Database;
  friend class Container;
  friend class RowRange;
  explicit Statement(quire_statement* handle) noexcept : handle_(handle) {}

  detail::Owned<quire_statement, quire_finalize> handle_;
  std::optional<Error> error_;
};

// One pass at a time over the rows of a statement, which must stay where it is meanwhile.
class RowRange {
 public:
  class iterator {
   public:
    using value_type = Value;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::input_iterator_tag;

    iterator() = default;
    explicit iterator(Statement* statement) : statement_(statement) { advance(); }
    Value operator*() const noexcept { return statement_->row(); }
    iterator& operator++() { return advance(), *this; }
    void operator++(int) { advance(); }
    bool operator==(std::default_sentinel_t) const noexcept { return statement_ == nullptr; }

   private:
    void advance() {
      auto has_row = statement_->step();
      if (has_row && *has_row) return;
      if (!has_row) statement_->error_ = std::move(has_row).error();
      statement_ = nullptr;
    }
    Statement* statement_ = nullptr;
  };

  explicit RowRange(Statement& statement) noexcept : statement_(&statement) {}
  iterator begin() const {
    statement_->reset();
    return iterator(statement_);
  }
  std::default_sentinel_t end() const noexcept { return {}; }

 private:
  Statement* statement_;
};

inline RowRange Statement::rows() noexcept {
  return RowRange(*this);
}

// ---- Transactions and snapshots

namespace detail {

// Of the calling thread, with which it ends; null until it is begun. The number of a thread would come again.
inline std::shared_ptr<const char>& life_of_thread() noexcept {
  thread_local std::shared_ptr<const char> life;
  return life;
}
inline std::weak_ptr<const char> begun_life_of_thread() {
  std::shared_ptr<const char>& life = life_of_thread();
  if (life == nullptr) life = std::make_shared<const char>();
  return life;
}

}  // namespace detail

// A write transaction of several calls; it holds the write lock and belongs to the thread that began it.
// Rolls back when it ends without a commit; it must end on its thread, or once that has ended: otherwise it
// can only leak, and the lock stays held.
class Transaction {
 public:
  // Ends the transaction, whatever it returns; save on another thread than its own, and by a procedure that
  // runs within it: QUIRE_MISUSE, and it goes on.
  Result<void> commit() {
    quire_error error;
    const bool can_end = is_of_this_thread() && procedures_ == 0;
    quire_transaction* const handle = can_end ? handle_.release() : handle_.get();
    return detail::checked(quire_transaction_commit(handle, &error), error);
  }
  // Does nothing where it cannot end.
  void rollback() noexcept {
    if ((is_of_this_thread() || owners_life_.expired()) && procedures_ == 0) handle_.reset();
  }

  quire_transaction* c_handle() const noexcept { return handle_.get(); }

 private:
  friend class Database;
  friend class Container;
  explicit Transaction(quire_transaction* handle) : handle_(handle) {}
  bool is_of_this_thread() const noexcept {
    const auto life = owners_life_.lock();
    return life != nullptr && life == detail::life_of_thread();
  }

  detail::Owned<quire_transaction, quire_transaction_rollback> handle_;
  std::weak_ptr<const char> owners_life_ = detail::begun_life_of_thread();
  int procedures_ = 0;  // that run within it
};

class Container;

// A view of the database at one moment. Keeps old pages alive while it lives: keep it short.
class Snapshot {
 public:
  // The item in place, without its system properties; good until the snapshot is renewed or ends.
  Result<Value> read(const Container& container, const PartitionKey& key, std::string_view id);
  // Moves to now; ends the values read before. Also after QUIRE_SNAPSHOT_TOO_OLD.
  Result<void> renew() {
    quire_error error;
    return detail::checked(quire_snapshot_renew(handle_.get(), &error), error);
  }

  quire_snapshot* c_handle() const noexcept { return handle_.get(); }

 private:
  friend class Database;
  explicit Snapshot(quire_snapshot* handle) noexcept : handle_(handle) {}
  detail::Owned<quire_snapshot, quire_snapshot_end> handle_;
};

// ---- Containers and items

struct WriteOptions {
  Transaction* transaction = nullptr;  // none: a transaction of its own; one that has ended: QUIRE_MISUSE
  std::string_view if_match = {};      // an etag with its quotes; empty: any
  // Triggers that run with the write: one before it, one after it.
  std::string_view pre_trigger = {};
  std::string_view post_trigger = {};
  // Of a replace: the item that the new one takes the place of, where that has another id.
  std::string_view replaced_id = {};
};

namespace detail {

// The options as C takes them, with the texts that they point to.
class WriteOptionsArgument {
 public:
  explicit WriteOptionsArgument(const WriteOptions& options)
      : if_match_(options.if_match), pre_(options.pre_trigger), post_(options.post_trigger) {
    options_.struct_size = sizeof options_;
    options_.if_match = if_match_.empty() ? nullptr : if_match_.c_str();
    options_.pre_trigger = pre_.c_str();
    options_.post_trigger = post_.c_str();
    options_.replaced_id = options.replaced_id.data();
    options_.replaced_id_length = options.replaced_id.size();
  }
  WriteOptionsArgument(const WriteOptionsArgument&) = delete;
  WriteOptionsArgument& operator=(const WriteOptionsArgument&) = delete;
  const quire_write_options* get() const noexcept { return &options_; }

 private:
  std::string if_match_, pre_, post_;
  quire_write_options options_{};
};

}  // namespace detail

class ItemInfo {
 public:
  std::string_view etag() const noexcept { return info_.etag; }   // with its quotes
  int64_t timestamp() const noexcept { return info_.timestamp; }  // _ts: Unix seconds
  bool was_created() const noexcept { return info_.created != 0; }
  double request_charge() const noexcept { return info_.request_charge; }

 private:
  friend class Container;
  quire_item_info info_{};
};

struct ImportOptions {
  bool skip_errors = false;    // leave bad items out and go on; otherwise a bad one means that none is loaded
  bool upsert = false;         // replace items that exist
  bool extended_json = false;  // as mongoexport writes it
  std::string id_path = {};    // "/key": copied to "id" as a string
  bool generate_ids = false;   // give an item without an id a UUID; otherwise it is an error
  uint32_t first_line = 1;     // what the first line counts as, where the input is a part of more
  std::function<bool(uint64_t bytes_read, uint64_t items)> progress = {};  // false stops the import
  // What it throws ends the import and is thrown on; where all was read by then, the items are loaded.
  std::function<void(uint64_t line, std::string_view message)> skipped = {};
};

// ---- Scripts

enum class ScriptKind {
  procedure = QUIRE_PROCEDURE,
  function = QUIRE_USER_FUNCTION,
  trigger = QUIRE_TRIGGER
};
enum class TriggerTime { pre = QUIRE_PRE, post = QUIRE_POST };
enum class TriggerOperation {
  all = QUIRE_AT_ALL,
  create = QUIRE_AT_CREATE,
  replace = QUIRE_AT_REPLACE,
  update = QUIRE_AT_UPDATE,
  remove = QUIRE_AT_DELETE
};

struct ScriptOptions {
  bool replace = false;  // in the place of one of that kind and name
  // Of a trigger.
  TriggerTime time = TriggerTime::pre;
  TriggerOperation operation = TriggerOperation::all;
  bool always = false;  // at every such write, not only where the request names it
};

// What a procedure left: its response as JSON, and what it logged, a line each.
struct ProcedureResult {
  std::string body;
  std::string log;
};

// What a native procedure works with: the items of its partition, as JSON. Ends with the call.
class ProcedureCall {
 public:
  explicit ProcedureCall(quire_call* handle) noexcept : handle_(handle) {}

  // The item as it is stored, with its system properties; QUIRE_FORBIDDEN for one of another partition.
  Result<std::string> create(std::string_view json) {
    return text([&](quire_buffer* out, quire_error* error) {
      return quire_call_create(handle_, json.data(), json.size(), out, error);
    });
  }
  Result<std::string> upsert(std::string_view json, const std::string& if_match = {}) {
    return text([&](quire_buffer* out, quire_error* error) {
      return quire_call_upsert(handle_, json.data(), json.size(), etag(if_match), out, error);
    });
  }
  Result<std::string> replace(std::string_view json, const std::string& if_match = {}) {
    return text([&](quire_buffer* out, quire_error* error) {
      return quire_call_replace(handle_, json.data(), json.size(), etag(if_match), out, error);
    });
  }
  Result<void> remove(std::string_view id, const std::string& if_match = {}) {
    quire_error error;
    return detail::checked(quire_call_delete(handle_, id.data(), id.size(), etag(if_match), &error), error);
  }
  Result<std::string> read_json(std::string_view id) {
    return text([&](quire_buffer* out, quire_error* error) {
      return quire_call_read(handle_, id.data(), id.size(), out, error);
    });
  }
  // {"feed":[...]} of {"query":"SELECT ...","parameters":[{"name":"@x","value":1}]}.
  Result<std::string> query(std::string_view json) {
    return text([&](quire_buffer* out, quire_error* error) {
      return quire_call_query(handle_, json.data(), json.size(), out, error);
    });
  }
  // The response: JSON.
  Result<void> respond(std::string_view json) {
    quire_error error;
    return detail::checked(quire_call_respond(handle_, json.data(), json.size(), &error), error);
  }
  void log(std::string_view line) noexcept { quire_call_log(handle_, line.data(), line.size()); }

 private:
  static const char* etag(const std::string& text) noexcept { return text.empty() ? nullptr : text.c_str(); }
  static Result<std::string> text(const auto& call) {
    detail::Buffer buffer;
    quire_error error;
    if (call(buffer.get(), &error) != QUIRE_OK) return detail::failure(error);
    return buffer.text();
  }

  quire_call* handle_;
};

// Gets its arguments as a JSON array. May run more than once for one call that succeeds, so it keeps its
// results in the call alone; on any thread that executes it.
using NativeProcedure = std::function<Result<void>(ProcedureCall& call, std::string_view arguments)>;

// ---- Change feed

enum class FeedMode { latest_version = QUIRE_LATEST_VERSION, all_versions = QUIRE_ALL_VERSIONS };
enum class Operation {
  written = QUIRE_WRITTEN,
  created = QUIRE_CREATED,
  replaced = QUIRE_REPLACED,
  deleted = QUIRE_DELETED
};

// Where a feed begins.
class FeedStart {
 public:
  static FeedStart beginning() { return FeedStart(QUIRE_FROM_BEGINNING); }
  static FeedStart now() { return FeedStart(QUIRE_FROM_NOW); }
  static FeedStart time(int64_t unix_seconds) { return FeedStart(QUIRE_FROM_TIME, unix_seconds); }
  static FeedStart token(std::string token) { return FeedStart(QUIRE_FROM_TOKEN, 0, std::move(token)); }

 private:
  friend class Container;
  explicit FeedStart(quire_feed_start start, int64_t time = 0, std::string token = {})
      : start_(start), time_(time), token_(std::move(token)) {}
  quire_feed_start start_;
  int64_t time_;
  std::string token_;
};

struct FeedOptions {
  FeedMode mode = FeedMode::latest_version;
  FeedStart start = FeedStart::beginning();
  std::optional<PartitionKey> partition_key = std::nullopt;  // this partition alone
};

// In place: good until the next call on its feed.
class Change {
 public:
  Operation operation() const noexcept { return static_cast<Operation>(change_.operation); }
  bool expired() const noexcept { return change_.expired != 0; }
  uint64_t lsn() const noexcept { return change_.lsn; }
  int64_t timestamp() const noexcept { return change_.timestamp; }
  Value current() const noexcept { return Value(change_.current); }    // undefined where it was deleted
  Value previous() const noexcept { return Value(change_.previous); }  // undefined where it is not known

 private:
  friend class Feed;
  quire_change change_{};
};

// What changes in a container. One thread at a time.
class Feed {
 public:
  // The next change, if there is one; otherwise waits for one, by any thread or process, for that long.
  // Negative: for ever.
  Result<std::optional<Change>> next(std::chrono::milliseconds patience = std::chrono::milliseconds(0)) {
    Change change;
    quire_error error;
    const int code = quire_feed_next(handle_.get(), patience.count(), &change.change_, &error);
    if (code == QUIRE_DONE) return std::optional<Change>();
    if (code != QUIRE_ROW) return detail::failure(error);
    return std::optional<Change>(change);
  }
  // The last change: the item with system properties and _lsn, or Cosmos's envelope in all versions.
  Result<std::string> json() const { return text(quire_feed_json); }
  // What FeedStart::token goes on from, behind the last change.
  Result<std::string> token() const { return text(quire_feed_token); }

  quire_feed* c_handle() const noexcept { return handle_.get(); }

 private:
  friend class Container;
  explicit Feed(quire_feed* handle) noexcept : handle_(handle) {}
  Result<std::string> text(decltype(&quire_feed_json) call) const {
    detail::Buffer buffer;
    quire_error error;
    if (call(handle_.get(), buffer.get(), &error) != QUIRE_OK) return detail::failure(error);
    return buffer.text();
  }
  detail::Owned<quire_feed, quire_feed_close> handle_;
};

// Gives the next bytes of an import: how many, 0 at the end, negative on failure.
using ReadInput = std::function<int64_t(char* buffer, size_t capacity)>;

// What a transactional batch is to do, in order: at most 100 operations, 2 MiB, on items of one partition.
class Batch {
 public:
  Batch& create(std::string json) { return add(QUIRE_BATCH_CREATE, {}, std::move(json)); }
  Batch& upsert(std::string json, std::string_view if_match = {}) {
    return add(QUIRE_BATCH_UPSERT, {}, std::move(json), if_match);
  }
  Batch& replace(std::string json, std::string_view if_match = {}) {
    return add(QUIRE_BATCH_REPLACE, {}, std::move(json), if_match);
  }
  // The item with this id, by one that may have another.
  Batch& replace_item(std::string_view id, std::string json, std::string_view if_match = {}) {
    return add(QUIRE_BATCH_REPLACE, id, std::move(json), if_match);
  }
  Batch& read(std::string_view id, std::string_view if_none_match = {}) {
    return add(QUIRE_BATCH_READ, id, {}, {}, if_none_match);
  }
  Batch& patch(std::string_view id, std::string json, std::string_view if_match = {}) {
    return add(QUIRE_BATCH_PATCH, id, std::move(json), if_match);
  }
  Batch& remove(std::string_view id, std::string_view if_match = {}) {
    return add(QUIRE_BATCH_DELETE, id, {}, if_match);
  }
  size_t size() const noexcept { return operations_.size(); }

 private:
  friend class Container;
  struct Operation {
    quire_batch_kind kind;
    std::string id, json, if_match, if_none_match;
  };
  Batch& add(quire_batch_kind kind, std::string_view id, std::string json, std::string_view if_match = {},
             std::string_view if_none_match = {}) {
    operations_.push_back(
        {kind, std::string(id), std::move(json), std::string(if_match), std::string(if_none_match)});
    return *this;
  }
  std::vector<Operation> operations_;
};

// What became of a batch: all of it happened, or nothing did.
struct BatchResult {
  struct Operation {
    int status = 0;    // 200, 201, 204, 304; of the one that failed its own, of all others then 424
    ItemInfo info;     // of a write or a read that succeeded
    std::string json;  // of a read
  };
  std::vector<Operation> operations;
  std::optional<Error> error;  // why nothing happened

  bool succeeded() const noexcept { return !error; }
};

// An item that was read, unless the caller has it already.
struct ReadItem {
  std::string json;
  ItemInfo info;
  bool is_unchanged = false;  // it has the etag of if_none_match; json is empty
};

// May be used by many threads at once.
class Container {
 public:
  Result<ItemInfo> create(std::string_view json, Transaction* transaction = nullptr) {
    return write(transaction, [&](quire_transaction* within, quire_item_info* info, quire_error* error) {
      return quire_create(handle_.get(), within, json.data(), json.size(), info, error);
    });
  }
  Result<ItemInfo> create(std::string_view json, const WriteOptions& options) {
    return write_with(QUIRE_CREATE, json, options);
  }
  Result<ItemInfo> upsert(std::string_view json, const WriteOptions& options = {}) {
    return write_with(QUIRE_UPSERT, json, options);
  }
  Result<ItemInfo> replace(std::string_view json, const WriteOptions& options = {}) {
    return write_with(QUIRE_REPLACE, json, options);
  }
  // Cosmos's JSON: an array of operations, or {"condition": ..., "operations": [...]}; see quire_patch.
  Result<ItemInfo> patch(const PartitionKey& key, std::string_view id, std::string_view json,
                         const WriteOptions& options = {}) {
    const detail::WriteOptionsArgument given(options);
    return write(options.transaction,
                 [&](quire_transaction* within, quire_item_info* info, quire_error* error) {
                   return quire_patch_with(handle_.get(), within, key.data(), key.size(), id.data(),
                                           id.size(), json.data(), json.size(), given.get(), info, error);
                 });
  }
  Result<void> remove(const PartitionKey& key, std::string_view id, const WriteOptions& options = {}) {
    const detail::WriteOptionsArgument given(options);
    const auto within = handle_of(options.transaction);
    if (!within) return Failure(within.error());
    quire_error error;
    return detail::checked(quire_delete_with(handle_.get(), *within, key.data(), key.size(), id.data(),
                                             id.size(), given.get(), &error),
                           error);
  }
  // The item as JSON; QUIRE_NOT_FOUND if there is none.
  Result<std::string> read_json(const PartitionKey& key, std::string_view id,
                                bool with_system_properties = true) const {
    detail::Buffer buffer;
    quire_error error;
    if (quire_read_json(handle_.get(), key.data(), key.size(), id.data(), id.size(),
                        with_system_properties ? 1 : 0, buffer.get(), &error) != QUIRE_OK)
      return detail::failure(error);
    return buffer.text();
  }

  // The same with its etag, as of the transaction if there is one; without JSON where the item has the etag
  // `if_none_match` ("*": any).
  Result<ReadItem> read(const PartitionKey& key, std::string_view id, std::string_view if_none_match = {},
                        Transaction* transaction = nullptr) const {
    const std::string etag(if_none_match);
    const auto within = handle_of(transaction);
    if (!within) return Failure(within.error());
    detail::Buffer buffer;
    ReadItem item;
    quire_error error;
    const int code =
        quire_read(handle_.get(), *within, key.data(), key.size(), id.data(), id.size(),
                   etag.empty() ? nullptr : etag.c_str(), buffer.get(), &item.info.info_, &error);
    item.is_unchanged = code == QUIRE_NOT_MODIFIED;
    if (code != QUIRE_OK && !item.is_unchanged) return detail::failure(error);
    if (!item.is_unchanged) item.json = buffer.text();
    return item;
  }

  // All operations or none; see Batch.
  // A template, so that the {} of execute("procedure", {}) is a partition key, not a batch.
  BatchResult execute(const PartitionKey& key, const std::same_as<Batch> auto& batch,
                      Transaction* transaction = nullptr) {
    return execute_batch(key, batch, transaction);
  }

  // NDJSON, or one JSON array of objects. A bad one means that none is loaded, unless options.skip_errors. An
  // interrupt or error while the items are written, such as a conflict with a unique key, leaves those before
  // it.
  Result<quire_import_result> import(const ReadInput& read, const ImportOptions& options = {});
  Result<quire_import_result> import(std::istream& input, const ImportOptions& options = {}) {
    // With a state of its own, which throws nothing at the end.
    std::istream reader(input.rdbuf());
    const ReadInput read = [&](char* buffer, size_t capacity) -> int64_t {
      reader.read(buffer, static_cast<std::streamsize>(capacity));
      const bool was_never_open = input.fail() && !input.eof();
      return reader.bad() || was_never_open ? -1 : static_cast<int64_t>(reader.gcount());
    };
    return import(read, options);
  }

  // `body`: JavaScript, one function.
  Result<void> create_script(ScriptKind kind, std::string_view name, std::string_view body,
                             const ScriptOptions& options = {}) {
    quire_script script{};
    script.struct_size = sizeof script;
    script.kind = static_cast<quire_script_kind>(kind);
    script.name = name.data();
    script.name_length = name.size();
    script.body = body.data();
    script.body_length = body.size();
    script.replace = options.replace ? 1 : 0;
    script.time = static_cast<quire_trigger_time>(options.time);
    script.operation = static_cast<quire_trigger_operation>(options.operation);
    script.always = options.always ? 1 : 0;
    quire_error error;
    return detail::checked(quire_script_create(handle_.get(), &script, &error), error);
  }
  Result<void> drop_script(ScriptKind kind, std::string_view name) {
    quire_error error;
    return detail::checked(quire_script_drop(handle_.get(), static_cast<quire_script_kind>(kind), name.data(),
                                             name.size(), &error),
                           error);
  }
  // A JSON array: [{"id":...,"kind":"procedure","body":...}, ...].
  Result<std::string> scripts() const {
    detail::Buffer buffer;
    quire_error error;
    if (quire_scripts(handle_.get(), buffer.get(), &error) != QUIRE_OK) return detail::failure(error);
    return buffer.text();
  }
  // Runs a procedure in one partition, as one transaction or as part of `transaction`. `arguments`: a JSON
  // array. `log`, if given, gets what it logged, also where it fails.
  Result<ProcedureResult> execute(std::string_view name, const PartitionKey& key,
                                  std::string_view arguments = "[]", Transaction* transaction = nullptr,
                                  std::string* log = nullptr) {
    const auto within = handle_of(transaction);
    if (!within) return Failure(within.error());
    detail::Buffer body;
    detail::Buffer lines;
    quire_error error;
    if (transaction != nullptr) ++transaction->procedures_;
    const int code = quire_execute(handle_.get(), *within, name.data(), name.size(), key.data(), key.size(),
                                   arguments.data(), arguments.size(), body.get(), lines.get(), &error);
    if (transaction != nullptr) --transaction->procedures_;
    if (log != nullptr) *log = lines.text();
    if (code != QUIRE_OK) return detail::failure(error);
    return ProcedureResult{body.text(), lines.text()};
  }
  // What changes in the container, from where the options say.
  Result<Feed> feed(const FeedOptions& options = {}) {
    quire_feed_options c_options{};
    c_options.struct_size = sizeof c_options;
    c_options.mode = static_cast<quire_feed_mode>(options.mode);
    c_options.start = options.start.start_;
    c_options.time = options.start.time_;
    c_options.token = options.start.token_.data();
    c_options.token_length = options.start.token_.size();
    if (options.partition_key) {
      c_options.partition_key = options.partition_key->data();
      c_options.components = options.partition_key->size();
    }
    quire_feed* feed = nullptr;
    quire_error error;
    if (quire_feed_open(handle_.get(), &c_options, &feed, &error) != QUIRE_OK) return detail::failure(error);
    return Feed(feed);
  }

  // The first identifier in FROM stands for this container, whatever it says, as in Cosmos.
  Result<Statement> prepare(std::string_view sql) {
    quire_statement* statement = nullptr;
    quire_error error;
    if (quire_prepare_in(handle_.get(), sql.data(), sql.size(), &statement, &error) != QUIRE_OK)
      return detail::failure(error);
    return Statement(statement);
  }

  quire_container* c_handle() const noexcept { return handle_.get(); }

 private:
  friend class Database;
  explicit Container(quire_container* handle) noexcept : handle_(handle) {}

  BatchResult execute_batch(const PartitionKey& key, const Batch& batch, Transaction* transaction);
  // NULL means none to the C ABI, which would make of a call within one that has ended a transaction of its
  // own.
  static Result<quire_transaction*> handle_of(const Transaction* transaction) {
    if (transaction == nullptr) return nullptr;
    if (transaction->c_handle() != nullptr) return transaction->c_handle();
    return Failure(Error{QUIRE_MISUSE, 500, "the transaction has ended"});
  }
  Result<ItemInfo> write(const Transaction* transaction, const auto& call) {
    const auto within = handle_of(transaction);
    if (!within) return Failure(within.error());
    ItemInfo info;
    quire_error error;
    if (call(*within, &info.info_, &error) != QUIRE_OK) return detail::failure(error);
    return info;
  }
  Result<ItemInfo> write_with(quire_write_kind kind, std::string_view json, const WriteOptions& options) {
    const detail::WriteOptionsArgument given(options);
    return write(
        options.transaction, [&](quire_transaction* within, quire_item_info* info, quire_error* error) {
          return quire_write(handle_.get(), within, kind, json.data(), json.size(), given.get(), info, error);
        });
  }

  detail::Owned<quire_container, quire_container_close> handle_;
};

inline BatchResult Container::execute_batch(const PartitionKey& key, const Batch& batch,
                                            Transaction* transaction) {
  const size_t count = batch.operations_.size();
  BatchResult made;
  const auto within = handle_of(transaction);
  if (!within) {
    made.operations.resize(count);
    made.error = within.error();
    return made;
  }
  const auto text = [](const std::string& etag) { return etag.empty() ? nullptr : etag.c_str(); };
  std::vector<quire_batch_operation> operations;
  for (const Batch::Operation& operation : batch.operations_)
    operations.push_back({operation.kind, operation.id.data(), operation.id.size(), operation.json.data(),
                          operation.json.size(), text(operation.if_match), text(operation.if_none_match)});
  std::vector<quire_batch_result> results(count);
  quire_error error;
  const int code = quire_batch(handle_.get(), *within, key.data(), key.size(), operations.data(), count,
                               results.data(), &error);
  if (code != QUIRE_OK) made.error = detail::error_of(error);
  for (quire_batch_result& result : results) {
    BatchResult::Operation& operation = made.operations.emplace_back();
    operation.status = result.status;
    operation.info.info_ = result.info;
    if (result.item.data != nullptr) operation.json.assign(result.item.data, result.item.length);
    quire_buffer_release(&result.item);
  }
  return made;
}

inline Result<Value> Snapshot::read(const Container& container, const PartitionKey& key,
                                    std::string_view id) {
  quire_value value;
  quire_error error;
  if (quire_snapshot_read(handle_.get(), container.c_handle(), key.data(), key.size(), id.data(), id.size(),
                          &value, &error) != QUIRE_OK)
    return detail::failure(error);
  return Value(value);
}

namespace detail {

// The callbacks of an import, called from C: what they throw is kept until the import has returned.
struct ImportCallbacks {
  const ReadInput& read;
  const ImportOptions& options;
  std::exception_ptr thrown = nullptr;

  template <typename Call>
  auto guarded(Call call, decltype(call()) on_exception) noexcept {
    if (thrown) return on_exception;
    return catching(call, [&](const std::exception*) {
      thrown = std::current_exception();
      return on_exception;
    });
  }
  static int64_t on_read(void* context, char* buffer, size_t capacity) {
    auto& self = *static_cast<ImportCallbacks*>(context);
    return self.guarded([&] { return self.read(buffer, capacity); }, int64_t{-1});
  }
  static int on_progress(void* context, uint64_t bytes, uint64_t items) {
    auto& self = *static_cast<ImportCallbacks*>(context);
    return self.guarded([&] { return !self.options.progress || self.options.progress(bytes, items) ? 0 : 1; },
                        1);
  }
  static void on_skipped(void* context, uint64_t line, const char* message) {
    auto& self = *static_cast<ImportCallbacks*>(context);
    self.guarded(
        [&] {
          if (self.options.skipped) self.options.skipped(line, message);
          return 0;
        },
        0);
  }
};

}  // namespace detail

inline Result<quire_import_result> Container::import(const ReadInput& read, const ImportOptions& options) {
  detail::ImportCallbacks callbacks{read, options};
  quire_import_options c_options{};
  c_options.struct_size = sizeof c_options;
  c_options.skip_errors = options.skip_errors ? 1 : 0;
  c_options.upsert = options.upsert ? 1 : 0;
  c_options.extended_json = options.extended_json ? 1 : 0;
  c_options.generate_ids = options.generate_ids ? 1 : 0;
  c_options.first_line = options.first_line;
  c_options.id_path = options.id_path.empty() ? nullptr : options.id_path.c_str();
  c_options.context = &callbacks;
  c_options.progress = detail::ImportCallbacks::on_progress;
  c_options.skipped = detail::ImportCallbacks::on_skipped;
  quire_import_result result{};
  quire_error error;
  const int code =
      quire_import(handle_.get(), detail::ImportCallbacks::on_read, &callbacks, &c_options, &result, &error);
  if (callbacks.thrown) std::rethrow_exception(callbacks.thrown);
  if (code != QUIRE_OK) return detail::failure(error);
  return result;
}

// ---- Request units

// Of this thread's last call: see quire_request_charge.
inline double request_charge() noexcept {
  return quire_request_charge();
}
// Of this thread's last write: see quire_request_log.
inline std::string_view request_log() noexcept {
  size_t length = 0;
  const char* const text = quire_request_log(&length);
  return {text, length};
}

// ---- Databases

enum class Durability { full = QUIRE_FULL, relaxed = QUIRE_RELAXED, none = QUIRE_NONE };

struct Options {
  bool read_only = false;
  bool must_exist = false;
  Durability durability = Durability::full;
  bool strict = false;            // take only what Azure Cosmos DB takes
  uint64_t map_size = 0;          // 0: chosen
  uint64_t statement_memory = 0;  // 0: 1 GiB, or half of the memory where that is less
  uint32_t busy_timeout_ms = 0;   // 0: 60,000
  bool untrusted = false;         // walk every page before the file is used
  bool verify_checksums = false;  // whenever an item is read
  bool trust_scripts = false;     // run JavaScript that came with the file from elsewhere, too
  // Limits: see quire_options.
  uint32_t statement_time_ms = 0;  // 0: none
  uint32_t reader_age_ms = 0;      // 0: none
  uint64_t result_size = 0;        // bytes; 0: none
  uint64_t transaction_size = 0;   // bytes; 0: 1 GiB
  uint32_t script_time_ms = 0;     // 0: 5,000
  uint64_t script_memory = 0;      // bytes; 0: 64 MiB
};

namespace detail {

// Whom what takes long tells how far it is. A statement that runs keeps C's context and may be on
// another thread: so the context stays the same, and a function lives as long as it is being called.
class WorkProgress {
 public:
  using Function = std::function<bool(uint64_t done, uint64_t all)>;

  void set(Function function) {
    auto next = function ? std::make_shared<const Function>(std::move(function)) : nullptr;
    const std::lock_guard lock(mutex_);
    function_.swap(next);
  }
  // What it throws must not go through C.
  static int call(void* context, uint64_t done, uint64_t all) noexcept {
    const auto function = static_cast<WorkProgress*>(context)->current();
    return detail::catching([&] { return function == nullptr || (*function)(done, all) ? 0 : 1; },
                            [](const std::exception*) { return 1; });
  }

 private:
  std::shared_ptr<const Function> current() {
    const std::lock_guard lock(mutex_);
    return function_;
  }
  std::mutex mutex_;
  std::shared_ptr<const Function> function_;
};

}  // namespace detail

// May be used by many threads at once.
class Database {
 public:
  // A file, made if need be, or ":memory:".
  static Result<Database> open(const std::string& path, const Options& options = {}) {
    const quire_options c_options{.struct_size = sizeof(quire_options),
                                  .read_only = options.read_only ? 1 : 0,
                                  .must_exist = options.must_exist ? 1 : 0,
                                  .durability = static_cast<quire_durability>(options.durability),
                                  .strict = options.strict ? 1 : 0,
                                  .map_size = options.map_size,
                                  .statement_memory = options.statement_memory,
                                  .busy_timeout_ms = options.busy_timeout_ms,
                                  .untrusted = options.untrusted ? 1 : 0,
                                  .verify_checksums = options.verify_checksums ? 1 : 0,
                                  .trust_scripts = options.trust_scripts ? 1 : 0,
                                  .statement_time_ms = options.statement_time_ms,
                                  .reader_age_ms = options.reader_age_ms,
                                  .result_size = options.result_size,
                                  .transaction_size = options.transaction_size,
                                  .script_time_ms = options.script_time_ms,
                                  .script_memory = options.script_memory};
    auto progress = std::make_unique<detail::WorkProgress>();
    quire_database* database = nullptr;
    quire_error error;
    if (quire_open(path.c_str(), &c_options, &database, &error) != QUIRE_OK) return detail::failure(error);
    return Database(database, std::move(progress));
  }
  // Puts a copy without free pages in the place of a file that nobody has open. `progress`: as set_progress.
  static Result<quire_compaction> compact(const std::string& path,
                                          detail::WorkProgress::Function progress = nullptr) {
    detail::WorkProgress told;
    told.set(std::move(progress));
    quire_compaction done;
    quire_error error;
    if (quire_compact_watched(path.c_str(), detail::WorkProgress::call, &told, &done, &error) != QUIRE_OK)
      return detail::failure(error);
    return done;
  }
  // Saves what a damaged file still holds into a new one; a JSON array with an object for each container.
  static Result<std::string> recover(const std::string& damaged, const std::string& fresh,
                                     detail::WorkProgress::Function progress = nullptr) {
    detail::WorkProgress told;
    told.set(std::move(progress));
    detail::Buffer buffer;
    quire_error error;
    if (quire_recover_watched(damaged.c_str(), fresh.c_str(), detail::WorkProgress::call, &told, buffer.get(),
                              &error) != QUIRE_OK)
      return detail::failure(error);
    return buffer.text();
  }
  // QUIRE_MISUSE, and still open, if anything of it is. The destructor cannot say so.
  Result<void> close() {
    quire_error error;
    auto closed = detail::checked(quire_close(handle_.get(), &error), error);
    if (closed) static_cast<void>(handle_.release());
    return closed;
  }

  // Cosmos's JSON: {"id":"readings","partitionKey":{"paths":["/deviceId"]}}.
  Result<void> create_container(std::string_view definition) {
    quire_error error;
    return detail::checked(
        quire_container_create(handle_.get(), definition.data(), definition.size(), &error), error);
  }
  Result<void> drop_container(std::string_view name) {
    quire_error error;
    return detail::checked(quire_container_drop(handle_.get(), name.data(), name.size(), &error), error);
  }
  // A JSON array of all definitions, with "itemCount" and "bytes".
  Result<std::string> containers() const {
    detail::Buffer buffer;
    quire_error error;
    if (quire_containers(handle_.get(), buffer.get(), &error) != QUIRE_OK) return detail::failure(error);
    return buffer.text();
  }
  // What the file is like, and who keeps it from using pages again: JSON, as quire_status gives it.
  Result<std::string> status() const {
    detail::Buffer buffer;
    quire_error error;
    if (quire_status(handle_.get(), buffer.get(), &error) != QUIRE_OK) return detail::failure(error);
    return buffer.text();
  }
  // Whether the model of a container will hold: a JSON array of findings.
  Result<std::string> advise(std::string_view container) const {
    detail::Buffer buffer;
    quire_error error;
    if (quire_advise(handle_.get(), container.data(), container.size(), buffer.get(), &error) != QUIRE_OK)
      return detail::failure(error);
    return buffer.text();
  }
  Result<Container> container(std::string_view name) const {
    quire_container* container = nullptr;
    quire_error error;
    if (quire_container_open(handle_.get(), name.data(), name.size(), &container, &error) != QUIRE_OK)
      return detail::failure(error);
    return Container(container);
  }

  // For this Database, as long as it is open. A container's own procedure of the name comes first.
  Result<void> register_procedure(std::string_view name, NativeProcedure procedure);

  // Identifiers in FROM name containers.
  Result<Statement> prepare(std::string_view sql) const {
    quire_statement* statement = nullptr;
    quire_error error;
    if (quire_prepare(handle_.get(), sql.data(), sql.size(), &statement, &error) != QUIRE_OK)
      return detail::failure(error);
    return Statement(statement);
  }
  Result<Transaction> begin_transaction() {
    quire_transaction* transaction = nullptr;
    quire_error error;
    if (quire_transaction_begin(handle_.get(), &transaction, &error) != QUIRE_OK)
      return detail::failure(error);
    return Transaction(transaction);
  }
  Result<Snapshot> begin_snapshot() const {
    quire_snapshot* snapshot = nullptr;
    quire_error error;
    if (quire_snapshot_begin(handle_.get(), &snapshot, &error) != QUIRE_OK) return detail::failure(error);
    return Snapshot(snapshot);
  }
  // Items whose time to live has ended, which no read sees any more; how many.
  Result<uint64_t> erase_expired(uint64_t most = UINT64_MAX) {
    uint64_t erased = 0;
    quire_error error;
    if (quire_erase_expired(handle_.get(), most, &erased, &error) != QUIRE_OK) return detail::failure(error);
    return erased;
  }
  // To a new file, while others read and write.
  Result<void> backup(const std::string& path) const {
    quire_error error;
    return detail::checked(quire_backup(handle_.get(), path.c_str(), &error), error);
  }
  // Told about how far what takes long is (CREATE INDEX, CHECK, a backup), on the thread of each; false, or
  // whatever it throws, ends it with QUIRE_INTERRUPTED. It must not write to the database, and stays until
  // the next call, which the statements that run then heed too, or the end of the database.
  void set_progress(detail::WorkProgress::Function progress) {
    if (progress_ == nullptr) return;  // moved from
    const bool is_told = progress != nullptr;
    progress_->set(std::move(progress));
    quire_set_progress(handle_.get(), is_told ? detail::WorkProgress::call : nullptr, progress_.get());
  }
  // A JSON array of what is wrong with a container, or with all: objects with "container", "where", "what"
  // and "repair".
  Result<std::string> check(std::string_view container = {}) const {
    detail::Buffer buffer;
    quire_error error;
    const char* const name = container.empty() ? nullptr : container.data();
    if (quire_check(handle_.get(), name, container.size(), buffer.get(), &error) != QUIRE_OK)
      return detail::failure(error);
    return buffer.text();
  }
  // From any thread, or a signal handler: statements, imports and backups now running end with
  // QUIRE_INTERRUPTED.
  void interrupt() noexcept { quire_interrupt(handle_.get()); }

  quire_database* c_handle() const noexcept { return handle_.get(); }

 private:
  Database(quire_database* handle, std::unique_ptr<detail::WorkProgress> progress) noexcept
      : progress_(std::move(progress)), handle_(handle) {}
  std::unique_ptr<detail::WorkProgress> progress_;  // outlives the handle
  detail::Owned<quire_database, detail::close_database> handle_;
};

namespace detail {

// A native procedure behind C's function pointer. What it throws ends the call as an error does.
inline int run_procedure(void* context, quire_call* call, const char* arguments, size_t length,
                         quire_error* error) noexcept {
  const auto fail = [error](int code, std::string_view message, uint32_t retry_after_ms = 0) {
    *error = {};
    // An error that names no code is a failure all the same.
    error->code = code != QUIRE_OK ? code : QUIRE_SCRIPT_FAILED;
    error->retry_after_ms = retry_after_ms;
    size_t shown = std::min(message.size(), sizeof error->message - 1);
    while (shown < message.size() && shown > 0 && (message[shown] & 0xC0) == 0x80)
      --shown;  // not within a character
    message.copy(error->message, shown);
    return error->code;
  };
  const auto run = [&]() -> int {
    ProcedureCall handle(call);
    const Result<void> done = (*static_cast<NativeProcedure*>(context))(handle, {arguments, length});
    if (done) return QUIRE_OK;
    return fail(done.error().code, done.error().message, done.error().retry_after_ms);
  };
  return catching(run, [&](const std::exception* exception) {
    return fail(QUIRE_SCRIPT_FAILED,
                exception != nullptr ? exception->what() : "the procedure threw something");
  });
}

}  // namespace detail

inline Result<void> Database::register_procedure(std::string_view name, NativeProcedure procedure) {
  const auto release = [](void* context) { delete static_cast<NativeProcedure*>(context); };
  auto owned = std::make_unique<NativeProcedure>(std::move(procedure));
  quire_error error;
  // The context is released whether the call succeeds or not.
  return detail::checked(quire_register_procedure(handle_.get(), name.data(), name.size(),
                                                  detail::run_procedure, owned.release(), release, &error),
                         error);
}

}  // namespace QUIRE_INLINE_NAMESPACE
}  // namespace quire

#undef QUIRE_INLINE_NAMESPACE

#endif
