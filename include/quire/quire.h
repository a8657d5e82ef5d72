/* Quire: an embedded JSON document database with the Azure Cosmos DB data model and SQL dialect. C99 ABI.
 *
 * Conventions
 *   Functions return QUIRE_OK (0) or an error code; quire_step also QUIRE_ROW and QUIRE_DONE, quire_read
 *   QUIRE_NOT_MODIFIED. Where the last parameter is a quire_error*, it may be NULL; on failure it is filled,
 * on success left alone. Text is UTF-8 with an explicit length; nothing needs to end in NUL unless its type
 * is a plain `const char*`. Every handle that a function gives is released by the function named beside it;
 * NULL may be released. JSON in is one JSON text; JSON out is compact.
 *
 * Threads
 *   A quire_database and its containers may be used from any number of threads at once. A quire_statement, a
 *   quire_snapshot and a quire_transaction belong to one thread at a time; a transaction to the thread that
 * began it. Reads never wait for writes, nor writes for reads, but where the map of the file has to grow
 * (map_size). Up to 1,024 statements between steps, snapshots and reads may be open on a file at a time, of
 * all processes; more are QUIRE_BUSY. An import, and a query of many items, may have threads of the library's
 * share the work (PRAGMA threads); callbacks come on the caller's thread. A thread that calls has 512 KiB of
 * stack or more, and 1 MiB for scripts: deep statements nest as deep in it.
 *
 * Misuse
 *   QUIRE_MISUSE, and nothing happens: NULL for a handle or a place that is needed; handles of two databases
 * in one call; a transaction on another thread than its own; a write beside one's own transaction, or beside
 * the procedure that runs, or the end of its transaction; a step after the end, without a reset; closing a
 * database of which anything is open, in which another thread is within BEGIN, or on which a check, a copy,
 * an ADVISE or a procedure still runs. A callback (of a long statement's progress, of an import, a native
 * procedure) may read. It may not use the statement whose step called it: steps and binds are QUIRE_MISUSE, a
 * reset does nothing, a quire_finalize takes effect when the step ends.
 *   What cannot be seen is undefined, as with free(): to use a handle after its release, or to release it
 *   twice; a quire_call after its procedure has returned; a value after what it is read from has ended; a
 *   statement, snapshot or feed on two threads at once; pthread_cancel() or longjmp() out of a call.
 *
 * Processes
 *   Several processes on one machine may open the same file, all by one name or by symbolic links that lead
 * to it: by another hard link they would not see each other. Two copies of this library in one process may
 * not: the second gets QUIRE_MISUSE, as does a process of another container with the same number. A file that
 * is moved, replaced or deleted while it is open keeps its lock file: until it is closed, no file can be
 * opened under its old name, and by no other process under its new one (QUIRE_BUSY). After fork(),
 * the child must open its own: what it begins with its parent's handles is QUIRE_MISUSE, and to release them
 * there does nothing, so that a child may end as its parent does. Of a parent that was killed the files
 * count as open until its children have ended or called exec().
 */
#ifndef QUIRE_QUIRE_H
#define QUIRE_QUIRE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define QUIRE_API __attribute__((visibility("default")))
#else
#define QUIRE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Errors ------------------------------------------------------------------------------------------- */

/* What happened. Numbers never change. Each code stands for one HTTP status of Cosmos, in quire_error.status.
 */
enum quire_code {
  QUIRE_OK = 0,
  QUIRE_SYNTAX = 1,                 /* 400 */
  QUIRE_UNRESOLVED_NAME = 2,        /* 400 */
  QUIRE_UNKNOWN_FUNCTION = 3,       /* 400 */
  QUIRE_WRONG_ARITY = 4,            /* 400 */
  QUIRE_SEMANTIC = 5,               /* 400 */
  QUIRE_NOT_IN_STRICT_MODE = 6,     /* 400 */
  QUIRE_NOT_EXECUTABLE = 7,         /* 400 */
  QUIRE_LIMIT_EXCEEDED = 8,         /* 400 */
  QUIRE_UNBOUND_PARAMETER = 9,      /* 400 */
  QUIRE_INVALID_JSON = 10,          /* 400 */
  QUIRE_INVALID_ID = 11,            /* 400 */
  QUIRE_INVALID_PARTITION_KEY = 12, /* 400 */
  QUIRE_INVALID_ARGUMENT = 13,      /* 400 */
  QUIRE_INVALID_DEFINITION = 14,    /* 400 */
  QUIRE_NOT_JSON_RESULT = 15,       /* 400 */
  QUIRE_RUN_TIME = 16,              /* 400 */
  QUIRE_SCRIPT_FAILED = 17,         /* 400 */
  QUIRE_FORBIDDEN = 20,             /* 403 */
  QUIRE_NOT_FOUND = 21,             /* 404 */
  QUIRE_CONTAINER_NOT_FOUND = 22,   /* 404 */
  QUIRE_CONFLICT = 23,              /* 409 */
  QUIRE_CONTAINER_EXISTS = 24,      /* 409 */
  QUIRE_EPK_CLASH = 25,             /* 409 */
  QUIRE_PRECONDITION_FAILED = 26,   /* 412 */
  QUIRE_TOO_LARGE = 27,             /* 413 */
  QUIRE_INTERRUPTED = 28,           /* 499 */
  QUIRE_BUSY = 29,                  /* 449 */
  QUIRE_TIMEOUT = 30,               /* 408 */
  QUIRE_TOO_MANY_REQUESTS = 31,     /* 429: see quire_error.retry_after_ms */
  QUIRE_RESULT_TOO_LARGE = 32,      /* 413: past quire_options.result_size */
  QUIRE_TRANSACTION_TOO_LARGE = 33, /* 413: past quire_options.transaction_size */
  QUIRE_SNAPSHOT_TOO_OLD = 34,      /* 408: past quire_options.reader_age_ms */
  QUIRE_NOT_A_DATABASE = 40,        /* 500, and so all below */
  QUIRE_NEWER_FORMAT = 41,
  QUIRE_PERMISSION = 42,
  QUIRE_NO_SPACE = 43,
  QUIRE_CANNOT_OPEN = 44,
  QUIRE_TRUNCATED = 45,
  QUIRE_CORRUPT = 46,
  QUIRE_READ_ONLY = 47,
  QUIRE_IO = 48,
  QUIRE_OUT_OF_MEMORY = 49,
  QUIRE_MISUSE = 50,
  QUIRE_INTERNAL = 51,
  QUIRE_ROW = 100,
  QUIRE_DONE = 101,
  QUIRE_NOT_MODIFIED = 102 /* 304, of quire_read */
};

/* Filled by a failing call. `line` is 0 where the error has no place in a text; columns count code points. */
typedef struct quire_error {
  int code;
  int status;
  uint64_t offset; /* bytes from the start of the SQL or JSON text */
  uint32_t line;
  uint32_t column;
  char message[1024];      /* ends in NUL; a longer message is cut */
  uint32_t retry_after_ms; /* QUIRE_TOO_MANY_REQUESTS: how long to wait before the request is made again */
} quire_error;

/* The stable name of a code ("unresolved_name"); static storage. */
QUIRE_API const char* quire_code_name(int code);
/* "1.2.3"; static storage. */
QUIRE_API const char* quire_version(void);
/* The libraries that it is built of and that tell their versions: "LMDB 0.9.24, simdjson 1.0.2, ..."; static
 * storage. */
QUIRE_API const char* quire_libraries(void);

/* ---- Bytes that a call gives back ---------------------------------------------------------------------- */

/* Starts as {0}; a call replaces what it holds and reuses its memory; released by quire_buffer_release. */
typedef struct quire_buffer {
  char* data;
  size_t length;
  size_t capacity;
} quire_buffer;
QUIRE_API void quire_buffer_release(quire_buffer* buffer);

/* ---- Values -----------------------------------------------------------------------------------------------
 */

typedef enum quire_type {
  QUIRE_UNDEFINED = 0,
  QUIRE_NULL = 1,
  QUIRE_BOOLEAN = 2,
  QUIRE_INTEGER = 3, /* an exact int64 */
  QUIRE_REAL = 4,    /* a double */
  QUIRE_STRING = 5,
  QUIRE_ARRAY = 6,
  QUIRE_OBJECT = 7
} quire_type;

/* A JSON value, read where it lies: 16 bytes to pass by value; it owns nothing. It is good until what gave it
 * says: the next quire_step, reset or finalize of its statement, or the end of its snapshot. */
typedef struct quire_value {
  uint64_t opaque[2];
} quire_value;

QUIRE_API quire_type quire_value_type(quire_value value);
QUIRE_API int quire_value_boolean(quire_value value);     /* 0 unless the boolean true */
QUIRE_API int64_t quire_value_integer(quire_value value); /* a real is truncated and clamped; else 0 */
QUIRE_API double quire_value_real(quire_value value);     /* any number; else 0 */
/* The bytes of a string, not NUL-terminated; else NULL and length 0. */
QUIRE_API const char* quire_value_string(quire_value value, size_t* length);
/* Elements of an array, members of an object; else 0. */
QUIRE_API size_t quire_value_size(quire_value value);
/* An array's element; undefined past the end. */
QUIRE_API quire_value quire_value_element(quire_value value, size_t index);
/* An object's member by name; undefined if there is none. */
QUIRE_API quire_value quire_value_member(quire_value value, const char* name, size_t name_length);
/* An object's member by its place in source order; undefined past the end. */
QUIRE_API quire_value quire_value_member_at(quire_value value, size_t index, const char** name,
                                            size_t* name_length);
/* Compact JSON into `out`, nothing for undefined. NaN and Infinity: QUIRE_NOT_JSON_RESULT. */
QUIRE_API int quire_value_json(quire_value value, quire_buffer* out, quire_error* error);
QUIRE_API int quire_value_pretty_json(quire_value value, quire_buffer* out, quire_error* error);

/* A scalar that a caller passes: a component of a partition key, a parameter. Borrowed for the call. */
typedef struct quire_scalar {
  quire_type type; /* undefined to string */
  int64_t integer; /* QUIRE_INTEGER; QUIRE_BOOLEAN: 0 or 1 */
  double real;
  const char* string;
  size_t length;
} quire_scalar;

/* ---- A database -------------------------------------------------------------------------------------------
 */

typedef struct quire_database quire_database;

typedef enum quire_durability {
  QUIRE_FULL = 0,    /* acknowledged means on disk, power cut included */
  QUIRE_RELAXED = 1, /* a power cut may undo the commits of the last second or so, never damages the file; a
                        crash of the process loses nothing */
  QUIRE_NONE = 2     /* no sync: a power cut may damage the file. Scratch data only */
} quire_durability;

/* Zero everywhere is the default. Set struct_size to sizeof(quire_options). */
typedef struct quire_options {
  size_t struct_size;
  int read_only;
  int must_exist; /* fail rather than create */
  quire_durability durability;
  int strict;        /* take only what Azure Cosmos DB takes */
  uint64_t map_size; /* first size of the memory map in bytes; 0: chosen, 64 GiB of address space
                        or, where there is less, what there is. It grows by itself, for which all statements
                        and snapshots of this process have to be out of the way: who needs more, a read as
                        well where another process has written more, waits for them for the busy timeout */
  uint64_t
      statement_memory; /* bytes one statement may hold; 0: 1 GiB, or half of the memory where that is less */
  uint32_t busy_timeout_ms; /* how long a write waits for other writers; 0: 60,000 */
  int untrusted;        /* walk every page of the file before it is used: for a file from a stranger, or one
                           that may be damaged (docs/damage.md). QUIRE_CORRUPT names what is wrong */
  int verify_checksums; /* check an item's checksum whenever it is read: QUIRE_CORRUPT names the item */
  int trust_scripts;    /* run JavaScript that came with the file from another machine or user, too: without
                           it such a script fails with QUIRE_FORBIDDEN (docs/scripts.md) */
  /* Limits of this handle of the database, which PRAGMA changes later (docs/statements.md, Limits): a value
   * out of range is QUIRE_INVALID_ARGUMENT. What goes past one ends with an error of its own and holds
   * nothing any more. */
  uint32_t statement_time_ms; /* how long a run of a statement may take: QUIRE_TIMEOUT; 0: no limit */
  uint32_t reader_age_ms;     /* how long a statement between its first step and its end, or a quire_snapshot,
                                 may keep old pages from reuse: QUIRE_SNAPSHOT_TOO_OLD at its next use, and the
                                 snapshot has ended. A feed goes on with a newer one. 0: no limit */
  uint64_t result_size;      /* bytes, as JSON, of the rows that a statement gives: QUIRE_RESULT_TOO_LARGE; 0:
                                no limit */
  uint64_t transaction_size; /* bytes of keys and records that a write transaction may write or erase, those
                                of indexes and the change feed counted: QUIRE_TRANSACTION_TOO_LARGE, nothing
                                of it is kept; 0: 1 GiB. Imports and builds of indexes, which commit in parts,
                                are not limited */
  uint32_t script_time_ms;   /* of a run of a script: QUIRE_TIMEOUT; 0: 5,000 */
  uint64_t script_memory;    /* bytes that it may hold: QUIRE_LIMIT_EXCEEDED; 0: 64 MiB */
} quire_options;

/* Opens or creates the file at `path`, or a database in memory for ":memory:". `options` may be NULL. */
QUIRE_API int quire_open(const char* path, const quire_options* options, quire_database** database,
                         quire_error* error);
/* Releases the database. Containers, statements, snapshots and transactions must have been released:
 * otherwise QUIRE_MISUSE, and the database stays open. What a statement BEGIN began is rolled back, if it was
 * this thread that stepped it, or one that has ended; while another is within BEGIN: QUIRE_MISUSE. */
QUIRE_API int quire_close(quire_database* database, quire_error* error);
/* From any thread, or a signal handler: every statement, import and backup now running ends with
 * QUIRE_INTERRUPTED (a statement at its next step, if it is between two, unless what it gives is the rows of
 * a change that is done), and so does every call that waits to write while others do. */
QUIRE_API void quire_interrupt(quire_database* database);
/* Called a few times a second by what takes long (CREATE INDEX, ALTER CONTAINER, CHECK, ADVISE, a backup), on
 * the thread that asked for it: about how much is done, of how much (0: not known yet). Nonzero ends it with
 * QUIRE_INTERRUPTED. Also by the first use of a container that goes on with an index which was left
 * unfinished: an end, as quire_interrupt's, leaves that to a later open. It must not write to the database.
 */
typedef int (*quire_work_progress)(void* context, uint64_t done, uint64_t all);
/* For what starts from now on; NULL: nobody is told. */
QUIRE_API void quire_set_progress(quire_database* database, quire_work_progress progress, void* context);
/* Whether the file holds what it should: checksums, documents, keys, entries of indexes, unique keys,
 * counters; of one container, or of all where `name` is NULL. `out`: a JSON array with an object for each
 * fault, {"container", "where", "what", "repair"}; [] if there is none. After 1,000 the rest is left out. The
 * same as CHECK in SQL. */
QUIRE_API int quire_check(quire_database* database, const char* name, size_t length, quire_buffer* out,
                          quire_error* error);
/* Writes the database as it is now to a new file at `path`, without its free pages; others read and write
 * meanwhile. It has its name when it is whole and on the disk; if it fails or is ended there is none. What a
 * process leaves that is killed meanwhile is called "<path>-copy-...", and may be deleted (of a compaction:
 * "<path>-compact"; of quire_recover "<fresh>-recover-..."). QUIRE_CANNOT_OPEN where there is a file already.
 */
QUIRE_API int quire_backup(quire_database* database, const char* path, quire_error* error);

/* How large the file was and is. */
typedef struct quire_compaction {
  uint64_t bytes_before;
  uint64_t bytes_after;
} quire_compaction;
/* Puts a copy without free pages, in the order of its keys, in the place of the file at `path`, once the copy
 * is on the disk: at each moment there is one whole file under the path. QUIRE_BUSY where the file is open,
 * here or in another process; who opens it meanwhile waits. `compaction` may be NULL. */
QUIRE_API int quire_compact(const char* path, quire_compaction* compaction, quire_error* error);
/* The same; `progress`, which may be NULL, is called as a database's is. QUIRE_INTERRUPTED leaves the file as
 * it was. */
QUIRE_API int quire_compact_watched(const char* path, quire_work_progress progress, void* context,
                                    quire_compaction* compaction, quire_error* error);

/* Saves what a damaged file at `damaged` still holds into a new one at `fresh`: every item whose checksum is
 * right, whichever of the file's trees are broken; containers, indexes, scripts. The damaged file is only
 * read; nobody should write to it meanwhile (QUIRE_BUSY). `out`, which may be NULL: a JSON array with an
 * object for each container, {"container", "salvaged", "lost", "notes"}. QUIRE_CANNOT_OPEN where there is a
 * file at `fresh` already, QUIRE_NOT_A_DATABASE where nothing can be saved. docs/damage.md tells what is kept
 * and what is not. */
QUIRE_API int quire_recover(const char* damaged, const char* fresh, quire_buffer* out, quire_error* error);
/* The same; `progress`, which may be NULL, is called as a database's is. QUIRE_INTERRUPTED leaves no new
 * file. */
QUIRE_API int quire_recover_watched(const char* damaged, const char* fresh, quire_work_progress progress,
                                    void* context, quire_buffer* out, quire_error* error);

/* ---- Containers
 * --------------------------------------------------------------------------------------------- */

typedef struct quire_container quire_container;

/* `definition` is Cosmos's JSON: {"id":"readings","partitionKey":{"paths":["/deviceId"]}}; up to three paths;
 * without partitionKey the container is one partition whose key is the id alone. */
QUIRE_API int quire_container_create(quire_database* database, const char* definition, size_t length,
                                     quire_error* error);
QUIRE_API int quire_container_drop(quire_database* database, const char* name, size_t length,
                                   quire_error* error);
/* A JSON array of all definitions, by name, each with "itemCount" and "bytes" (of the items' documents). */
QUIRE_API int quire_containers(quire_database* database, quire_buffer* out, quire_error* error);
/* Released by quire_container_close. */
QUIRE_API int quire_container_open(quire_database* database, const char* name, size_t length,
                                   quire_container** container, quire_error* error);
QUIRE_API void quire_container_close(quire_container* container);

/* Whether the model of a container will hold: a JSON array of findings, the same rows as of the statement
 * ADVISE (docs/advisor.md), the first of them a summary. Reads the container, its insides in a sample if it
 * is large. */
QUIRE_API int quire_advise(quire_database* database, const char* container, size_t length, quire_buffer* out,
                           quire_error* error);

/* Erases items that have expired (their "ttl", or the container's "defaultTtl"), of all containers, in short
 * transactions, at most `most`; how many into `erased`, which may be NULL. They are gone for reads, queries
 * and unique keys at once; each write to their container erases two, and this is for who has time. */
QUIRE_API int quire_erase_expired(quire_database* database, uint64_t most, uint64_t* erased,
                                  quire_error* error);

/* What the file is like, as JSON: {"fileBytes", "usedBytes" (up to the last page that was ever used),
 * "mapBytes", "readers": the open snapshots of all processes, "oldestReader": {"process": its number,
 * "commits": how many came after it} or null}. While a snapshot is open no commit since can use again what it
 * still reads: the file grows. */
QUIRE_API int quire_status(quire_database* database, quire_buffer* out, quire_error* error);

/* ---- Items
 * -------------------------------------------------------------------------------------------------- */

typedef struct quire_transaction quire_transaction;

/* A write transaction of several calls, over any containers. It holds the write lock until it ends: other
 * writers wait, and a write of the same thread outside of it is QUIRE_MISUSE. Containers must have been
 * opened before it began (else QUIRE_CONTAINER_NOT_FOUND). A write in it that fails leaves it as it was,
 * except for QUIRE_NO_SPACE, QUIRE_OUT_OF_MEMORY, QUIRE_IO and QUIRE_TRANSACTION_TOO_LARGE, after which it
 * can only be rolled back, and for QUIRE_BUSY, where the file's map has to grow first: roll it back, and run
 * it again. */
QUIRE_API int quire_transaction_begin(quire_database* database, quire_transaction** transaction,
                                      quire_error* error);
/* Both release the transaction, whatever they return; save by a procedure that runs within it, and on another
 * thread than its own (a rollback: while that lives), where the first gives QUIRE_MISUSE and the second does
 * nothing. QUIRE_BUSY from a commit: all is undone, run the transaction again. */
QUIRE_API int quire_transaction_commit(quire_transaction* transaction, quire_error* error);
QUIRE_API void quire_transaction_rollback(quire_transaction* transaction);

/* What a write made. */
typedef struct quire_item_info {
  char etag[40];         /* with its quotes, ends in NUL */
  int64_t timestamp;     /* _ts: Unix seconds */
  int created;           /* 1: created, 0: replaced */
  double request_charge; /* see quire_request_charge */
} quire_item_info;

/* Each write is a transaction of its own where `transaction` is NULL. `if_match`: an etag with its quotes,
 * NULL or "*" for any (else QUIRE_PRECONDITION_FAILED; "" is the etag of no item). `info` may be NULL. A
 * failed call changes nothing. Create: QUIRE_CONFLICT where (partition key, id) exists. Replace:
 * QUIRE_NOT_FOUND where it does not. An item without "id" gets one (UUID) in create and upsert. */
QUIRE_API int quire_create(quire_container* container, quire_transaction* transaction, const char* json,
                           size_t length, quire_item_info* info, quire_error* error);
QUIRE_API int quire_upsert(quire_container* container, quire_transaction* transaction, const char* json,
                           size_t length, const char* if_match, quire_item_info* info, quire_error* error);
QUIRE_API int quire_replace(quire_container* container, quire_transaction* transaction, const char* json,
                            size_t length, const char* if_match, quire_item_info* info, quire_error* error);
/* Changes parts of an item: at most ten operations in order, all or none. `patch` is Cosmos's JSON,
 * {"condition": "FROM c WHERE c.stock > 0", "operations": [{"op": "incr", "path": "/stock", "value": -1}]},
 * or the operations alone: add, set, replace, remove, incr, move. QUIRE_NOT_FOUND; QUIRE_PRECONDITION_FAILED
 * where the condition is not true or the etag another one; QUIRE_INVALID_ARGUMENT where an operation cannot
 * be done, or would change the id, the partition key or what the database sets; QUIRE_LIMIT_EXCEEDED for more
 * than ten. */
QUIRE_API int quire_patch(quire_container* container, quire_transaction* transaction,
                          const quire_scalar* partition_key, size_t components, const char* id,
                          size_t id_length, const char* patch, size_t length, const char* if_match,
                          quire_item_info* info, quire_error* error);
/* `partition_key`: as many components as the container's key has paths (none where it has none). */
QUIRE_API int quire_delete(quire_container* container, quire_transaction* transaction,
                           const quire_scalar* partition_key, size_t components, const char* id,
                           size_t id_length, const char* if_match, quire_error* error);
/* How a write is to be made; zero everywhere is the default. Set struct_size to sizeof(quire_write_options).
 */
typedef struct quire_write_options {
  size_t struct_size;
  const char* if_match;
  /* Names of triggers that run with the write, in its transaction: one before it, which may change the item,
   * and one after it. An exception of theirs fails the write. Those that are ALWAYS run in any case. */
  const char* pre_trigger;
  const char* post_trigger;
  /* Of QUIRE_REPLACE: the item, of the same partition key, that the new one takes the place of, where its id
   * is another than the new one's; empty: the one with the new one's id. QUIRE_CONFLICT where the new id is
   * taken. The item keeps its _rid; the change feed has a deletion and a creation. */
  const char* replaced_id;
  size_t replaced_id_length;
} quire_write_options;
typedef enum quire_write_kind { QUIRE_CREATE = 0, QUIRE_UPSERT = 1, QUIRE_REPLACE = 2 } quire_write_kind;
/* quire_create, quire_upsert, quire_replace, quire_patch and quire_delete with all options. `options` may be
 * NULL. */
QUIRE_API int quire_write(quire_container* container, quire_transaction* transaction, quire_write_kind kind,
                          const char* json, size_t length, const quire_write_options* options,
                          quire_item_info* info, quire_error* error);
QUIRE_API int quire_patch_with(quire_container* container, quire_transaction* transaction,
                               const quire_scalar* partition_key, size_t components, const char* id,
                               size_t id_length, const char* patch, size_t length,
                               const quire_write_options* options, quire_item_info* info, quire_error* error);
QUIRE_API int quire_delete_with(quire_container* container, quire_transaction* transaction,
                                const quire_scalar* partition_key, size_t components, const char* id,
                                size_t id_length, const quire_write_options* options, quire_error* error);
/* The item as JSON, system properties included (`with_system_properties` 0: without); as the thread's BEGIN
 * sees it, within one. */
QUIRE_API int quire_read_json(quire_container* container, const quire_scalar* partition_key,
                              size_t components, const char* id, size_t id_length, int with_system_properties,
                              quire_buffer* out, quire_error* error);

/* The same, and what it is; as `transaction` sees it, where that is not NULL. `if_none_match`: an etag that
 * the caller has, or "*"; QUIRE_NOT_MODIFIED, with `info` filled, where the item has it. `out`, `info` and
 * `if_none_match` may be NULL. */
QUIRE_API int quire_read(quire_container* container, quire_transaction* transaction,
                         const quire_scalar* partition_key, size_t components, const char* id,
                         size_t id_length, const char* if_none_match, quire_buffer* out,
                         quire_item_info* info, quire_error* error);

typedef enum quire_batch_kind {
  QUIRE_BATCH_CREATE = 0,
  QUIRE_BATCH_UPSERT = 1,
  QUIRE_BATCH_REPLACE = 2,
  QUIRE_BATCH_READ = 3,
  QUIRE_BATCH_PATCH = 4,
  QUIRE_BATCH_DELETE = 5
} quire_batch_kind;

/* Zero what an operation does not take. */
typedef struct quire_batch_operation {
  quire_batch_kind kind;
  const char* id; /* read, patch, delete; replace: as replaced_id of quire_write_options */
  size_t id_length;
  const char* json; /* create, upsert, replace: the item; patch: as of quire_patch */
  size_t json_length;
  const char* if_match;      /* upsert, replace, patch, delete */
  const char* if_none_match; /* read */
} quire_batch_operation;

/* Starts as {0}; `item` is released by quire_buffer_release. */
typedef struct quire_batch_result {
  int status;           /* 200, 201, 204, 304; of the operation that failed its own, of all others then 424 */
  quire_item_info info; /* of a write or a read that succeeded; of a delete the charge alone */
  quire_buffer item;    /* of a read: the item's JSON */
} quire_batch_result;

/* A transactional batch: 1 to 100 operations, 2 MiB together, on items of one partition, one after the other,
 * each seeing those before it: all of them or none. With a transaction they take part in it, all or none.
 * Returns the code of the operation that failed, which the message names. QUIRE_LIMIT_EXCEEDED,
 * QUIRE_TOO_LARGE: the batch as a whole. `results`: as many as operations, filled also on failure; may be
 * NULL. */
QUIRE_API int quire_batch(quire_container* container, quire_transaction* transaction,
                          const quire_scalar* partition_key, size_t components,
                          const quire_batch_operation* operations, size_t count, quire_batch_result* results,
                          quire_error* error);

/* A view of the database at one moment, of what was committed: also within BEGIN. Keeps old pages alive while
 * it lives: keep it short. A container that this process opens for the first time later is
 * QUIRE_CONTAINER_NOT_FOUND in it until it is renewed. */
typedef struct quire_snapshot quire_snapshot;
QUIRE_API int quire_snapshot_begin(quire_database* database, quire_snapshot** snapshot, quire_error* error);
/* Moves the snapshot to now; ends the values read from it. Also where quire_snapshot_read has ended it, with
 * QUIRE_SNAPSHOT_TOO_OLD, since it was older than the reader_age of the database. */
QUIRE_API int quire_snapshot_renew(quire_snapshot* snapshot, quire_error* error);
QUIRE_API void quire_snapshot_end(quire_snapshot* snapshot);
/* The item in place, without its system properties; good until the snapshot is renewed or ends (as it does
 * with QUIRE_SNAPSHOT_TOO_OLD). */
QUIRE_API int quire_snapshot_read(quire_snapshot* snapshot, quire_container* container,
                                  const quire_scalar* partition_key, size_t components, const char* id,
                                  size_t id_length, quire_value* value, quire_error* error);

/* ---- Import
 * ------------------------------------------------------------------------------------------------- */

/* Progress, a few times a second: return nonzero to stop (QUIRE_INTERRUPTED). */
typedef int (*quire_progress)(void* context, uint64_t bytes_read, uint64_t items);
/* Gives the next bytes of the input: how many, 0 at the end, negative on failure (QUIRE_IO). */
typedef int64_t (*quire_read_input)(void* context, char* buffer, size_t capacity);
/* Told of each line left out under skip_errors. */
typedef void (*quire_skipped)(void* context, uint64_t line, const char* message);

typedef struct quire_import_options {
  size_t struct_size;
  int skip_errors;     /* leave bad items out and go on; otherwise a bad one means that none is loaded */
  int upsert;          /* replace items that exist; otherwise they are conflicts */
  int extended_json;   /* map {"$oid"}, {"$date"}, {"$numberLong"}, ... and _id, as mongoexport writes them */
  const char* id_path; /* "/key": copied to "id" as a string; NULL: the item's own */
  void* context;       /* for the callbacks */
  quire_progress progress; /* may be NULL */
  quire_skipped skipped;   /* may be NULL */
  int generate_ids;        /* give an item without an id a UUID; otherwise it is an error */
  uint32_t first_line;     /* what the first line counts as, where the input is a part of more; 0: 1 */
} quire_import_options;

typedef struct quire_import_result {
  uint64_t items;
  uint64_t skipped;
  uint64_t bytes_read;
} quire_import_result;

/* Loads NDJSON, or one JSON array of objects, told apart by the first character. Sorts in bounded memory and
 * appends. An error of the input (with its line), or an item that exists when the import begins to write,
 * loads nothing, unless skip_errors. Writing goes in parts: an interrupt then, or an error such as the
 * QUIRE_CONFLICT of a unique key, or with what another thread writes under the same ids meanwhile, leaves the
 * parts before it, and the message says so: "... items had been written before and stay". */
QUIRE_API int quire_import(quire_container* container, quire_read_input read, void* read_context,
                           const quire_import_options* options, quire_import_result* result,
                           quire_error* error);

/* ---- Change feed
 * --------------------------------------------------------------------------------------------- */

/* A reader of what changes in a container, in the order of the changes. One thread at a time. */
typedef struct quire_feed quire_feed;

typedef enum quire_feed_mode {
  QUIRE_LATEST_VERSION = 0, /* each item once, as it is now; an update moves it to the end; no deletions */
  QUIRE_ALL_VERSIONS = 1    /* every change, deletions too, while the container's "changeFeedPolicy" keeps it:
                               {"retentionDuration": minutes} */
} quire_feed_mode;

typedef enum quire_feed_start {
  QUIRE_FROM_BEGINNING = 0, /* in all versions: from the oldest that is kept */
  QUIRE_FROM_NOW = 1,
  QUIRE_FROM_TIME = 2,
  QUIRE_FROM_TOKEN = 3
} quire_feed_start;

/* Zero everywhere is the default. Set struct_size to sizeof(quire_feed_options). */
typedef struct quire_feed_options {
  size_t struct_size;
  quire_feed_mode mode;
  quire_feed_start start;
  int64_t time;      /* QUIRE_FROM_TIME: changes from then on, Unix seconds, by the items' _ts */
  const char* token; /* QUIRE_FROM_TOKEN: of quire_feed_token */
  size_t token_length;
  const quire_scalar*
      partition_key; /* this partition alone; a prefix of a hierarchical key: those under it */
  size_t components; /* 0: all partitions */
} quire_feed_options;

typedef enum quire_operation {
  QUIRE_WRITTEN = 0, /* created or replaced: latest versions do not tell */
  QUIRE_CREATED = 1,
  QUIRE_REPLACED = 2,
  QUIRE_DELETED = 3
} quire_operation;

/* A change, in place: good until the next call on its feed. */
typedef struct quire_change {
  quire_operation operation;
  int expired;          /* deleted since its time to live was over */
  uint64_t lsn;         /* ascends; the changes of one transaction have the same */
  int64_t timestamp;    /* of the change: Unix seconds */
  quire_value current;  /* the item without its system properties; undefined where it was deleted */
  quire_value previous; /* the version before, in all versions and where it is kept; else undefined */
} quire_change;

/* `options` may be NULL. Released by quire_feed_close. QUIRE_INVALID_ARGUMENT: a token of another container,
 * mode or partition, or one that was tampered with; all versions of a container that keeps none. */
QUIRE_API int quire_feed_open(quire_container* container, const quire_feed_options* options,
                              quire_feed** feed, quire_error* error);
/* QUIRE_ROW and the next change; QUIRE_DONE if there is none: call again later, or wait for it here, for
 * `patience_ms` at most (0: not at all; negative: for ever), whichever thread or process makes it. Between
 * QUIRE_ROW and QUIRE_DONE the feed holds a snapshot, for the reader_age of the database at most: then it
 * goes on with a newer one. quire_interrupt ends a wait with QUIRE_INTERRUPTED. QUIRE_INVALID_ARGUMENT where
 * versions that were to come next are past their retention. */
QUIRE_API int quire_feed_next(quire_feed* feed, int64_t patience_ms, quire_change* change,
                              quire_error* error);
/* The change of the last QUIRE_ROW as JSON: the item with its system properties and _lsn; in all versions
 * Cosmos's {"current":{...},"previous":{...},"metadata":{"operationType":"replace","lsn":7,...}}. */
QUIRE_API int quire_feed_json(quire_feed* feed, quire_buffer* out, quire_error* error);
/* Stands for the place behind the last change: text that another feed on the container, in any process and at
 * any later time, goes on from. */
QUIRE_API int quire_feed_token(quire_feed* feed, quire_buffer* out, quire_error* error);
QUIRE_API void quire_feed_close(quire_feed* feed);

/* ---- Statements
 * --------------------------------------------------------------------------------------------- */

typedef struct quire_statement quire_statement;

/* Prepared on the database: identifiers in FROM name containers. Released by quire_finalize. A container that
 * is dropped and made anew under its name is queried anew; until then a step gives QUIRE_CONTAINER_NOT_FOUND.
 * The plans of texts that come again are kept: to prepare one with other values, bind them. */
QUIRE_API int quire_prepare(quire_database* database, const char* sql, size_t length,
                            quire_statement** statement, quire_error* error);
/* Prepared on a container: the first identifier in FROM stands for it, whatever it says, as in Cosmos. The
 * statement may outlive the handle; once the container is dropped, a step gives QUIRE_CONTAINER_NOT_FOUND. */
QUIRE_API int quire_prepare_in(quire_container* container, const char* sql, size_t length,
                               quire_statement** statement, quire_error* error);
/* `name` with or without its @; QUIRE_INVALID_ARGUMENT if the statement has none such. The value is copied.
 * Bind before the first step or after a reset; bindings outlive resets. */
QUIRE_API int quire_bind(quire_statement* statement, const char* name, quire_scalar value,
                         quire_error* error);
QUIRE_API int quire_bind_json(quire_statement* statement, const char* name, const char* json, size_t length,
                              quire_error* error);
/* QUIRE_ROW, QUIRE_DONE, or an error code. The first step takes the snapshot that all rows come from; it ends
 * with QUIRE_DONE or an error. After these, only reset and finalize make sense: a step is QUIRE_MISUSE.
 * INSERT, UPSERT, REPLACE, UPDATE, DELETE and the statements about containers do all their work in the first
 * step, in a write transaction of its own: all of it or, with an error, nothing; but an index of CREATE INDEX
 * whose build is interrupted or too slow stays, unfinished and unused. Rows are those of RETURNING.
 * BEGIN opens a transaction for the thread that steps it: the statements of this database that this thread
 * runs, and its writes without one, take part until COMMIT or ROLLBACK, or the thread's end: it is undone. */
QUIRE_API int quire_step(quire_statement* statement, quire_error* error);
/* The row: one JSON value (an object for a select list); good until the next step, reset or finalize.
 * Undefined where there is no row, and where memory runs out: the next step then fails with
 * QUIRE_OUT_OF_MEMORY. */
QUIRE_API quire_value quire_row_value(quire_statement* statement);
/* The same as compact JSON, owned by the statement, as long. NaN and Infinity: QUIRE_NOT_JSON_RESULT. */
QUIRE_API int quire_row_json(quire_statement* statement, const char** json, size_t* length,
                             quire_error* error);
/* Ends the snapshot; the statement can be stepped again. */
QUIRE_API void quire_reset(quire_statement* statement);
QUIRE_API void quire_finalize(quire_statement* statement);

/* The names of the statement's parameters, without @, in order of first use; NULL past the last. Good as long
 * as the statement. */
QUIRE_API const char* quire_parameter_name(quire_statement* statement, size_t index);

/* What procedures and triggers of the run wrote with console.log, a line each; also after a step that
 * failed; functions log nothing. Owned by the statement, good until its next step, reset or finalize. */
QUIRE_API const char* quire_log(quire_statement* statement, size_t* length);

/* From the statement's next run on, an item as a whole (SELECT *, SELECT c) comes without _rid, _self, _etag,
 * _attachments and _ts, as it was stored, in what the statement gives. Within it they are there, and c._ts
 * and the others can be asked for by name. */
QUIRE_API void quire_omit_system_properties(quire_statement* statement);

/* The statement's runs are not entered into the record of queries that ADVISE judges by: for tools that look
 * at the data on their own account. */
QUIRE_API void quire_leave_unrecorded(quire_statement* statement);

/* Since the last reset. */
typedef struct quire_statement_stats {
  uint64_t items_read;
  uint64_t rows_returned;
  uint64_t items_changed; /* written or deleted */
  double request_charge;  /* see quire_request_charge */
} quire_statement_stats;
QUIRE_API void quire_stats(quire_statement* statement, quire_statement_stats* stats);

/* ---- Scripts: server-side code of a container. docs/scripts.md tells what JavaScript finds there, and the
 * limits.
 * -------------------------------------------------------------------------------------------------------------
 */

typedef enum quire_script_kind {
  QUIRE_PROCEDURE = 0,
  QUIRE_USER_FUNCTION = 1, /* udf.name(...) in queries */
  QUIRE_TRIGGER = 2
} quire_script_kind;
typedef enum quire_trigger_time { QUIRE_PRE = 0, QUIRE_POST = 1 } quire_trigger_time;
typedef enum quire_trigger_operation {
  QUIRE_AT_ALL = 0,
  QUIRE_AT_CREATE = 1,
  QUIRE_AT_REPLACE = 2,
  QUIRE_AT_UPDATE = 3,
  QUIRE_AT_DELETE = 4
} quire_trigger_operation;

/* Set struct_size to sizeof(quire_script). */
typedef struct quire_script {
  size_t struct_size;
  quire_script_kind kind;
  const char* name;
  size_t name_length;
  const char* body; /* JavaScript: one function */
  size_t body_length;
  int replace; /* in the place of one of that kind and name; otherwise QUIRE_CONFLICT */
  quire_trigger_time time;
  quire_trigger_operation operation;
  int always; /* a trigger: at every such write, not only where the request names it */
} quire_script;

/* QUIRE_SYNTAX, with its line, for a text that is no JavaScript; QUIRE_NOT_EXECUTABLE in a build without it.
 */
QUIRE_API int quire_script_create(quire_container* container, const quire_script* script, quire_error* error);
QUIRE_API int quire_script_drop(quire_container* container, quire_script_kind kind, const char* name,
                                size_t name_length, quire_error* error);
/* A JSON array: [{"id":...,"kind":"procedure","body":...}, ...]. */
QUIRE_API int quire_scripts(quire_container* container, quire_buffer* out, quire_error* error);

/* Runs a procedure, JavaScript or native, in one partition: all that it does is one transaction, or part of
 * `transaction`, and happens as a whole or not at all. `arguments`: a JSON array (else QUIRE_INVALID_JSON,
 * with its place, or QUIRE_INVALID_ARGUMENT); NULL: none. `body` gets the response, as JSON; `log`, which may
 * be NULL, what it logged, also where the call fails. QUIRE_NOT_FOUND without such a procedure,
 * QUIRE_SCRIPT_FAILED where it threw or gave up, QUIRE_TIMEOUT and QUIRE_LIMIT_EXCEEDED where it went past a
 * limit; QUIRE_INVALID_JSON where its response is no document (nested too deeply); an error of the database
 * that it let pass keeps its code, save for those of status 400, which are QUIRE_SCRIPT_FAILED.
 */
QUIRE_API int quire_execute(quire_container* container, quire_transaction* transaction, const char* name,
                            size_t name_length, const quire_scalar* partition_key, size_t components,
                            const char* arguments, size_t arguments_length, quire_buffer* body,
                            quire_buffer* log, quire_error* error);

/* A native procedure: gets its call and its arguments as a JSON array. It returns QUIRE_OK, or an error code
 * with `error` filled, after which nothing of it remains. It may run more than once for one call that
 * succeeds (the map of the file had to grow), so it must keep its results in the call alone, and on any
 * thread that executes it. */
typedef struct quire_call quire_call;
typedef int (*quire_native_procedure)(void* context, quire_call* call, const char* arguments, size_t length,
                                      quire_error* error);
/* For this handle of the database, as long as it is open; in the place of one of that name. A container's own
 * procedure of the name comes first. `release`, which may be NULL, is called with `context` at the end, or at
 * once if this fails. */
QUIRE_API int quire_register_procedure(quire_database* database, const char* name, size_t name_length,
                                       quire_native_procedure procedure, void* context,
                                       void (*release)(void* context), quire_error* error);
/* For within a native procedure: the items of its partition; an item of another one is QUIRE_FORBIDDEN.
 * `out`, which may be NULL, gets the item as JSON with its system properties. */
QUIRE_API int quire_call_create(quire_call* call, const char* json, size_t length, quire_buffer* out,
                                quire_error* error);
QUIRE_API int quire_call_upsert(quire_call* call, const char* json, size_t length, const char* if_match,
                                quire_buffer* out, quire_error* error);
QUIRE_API int quire_call_replace(quire_call* call, const char* json, size_t length, const char* if_match,
                                 quire_buffer* out, quire_error* error);
QUIRE_API int quire_call_delete(quire_call* call, const char* id, size_t id_length, const char* if_match,
                                quire_error* error);
QUIRE_API int quire_call_read(quire_call* call, const char* id, size_t id_length, quire_buffer* out,
                              quire_error* error);
/* All rows, as {"feed":[...]}. `query`: {"query":"SELECT ...","parameters":[{"name":"@x","value":1}]}. */
QUIRE_API int quire_call_query(quire_call* call, const char* query, size_t length, quire_buffer* out,
                               quire_error* error);
QUIRE_API int quire_call_respond(quire_call* call, const char* json, size_t length, quire_error* error);
QUIRE_API void quire_call_log(quire_call* call, const char* line, size_t length);

/* What the triggers of this thread's last quire_create, upsert, replace, write, patch, delete or batch wrote
 * with console.log, a line each; also where the call failed. Ends in NUL; good until the thread's next such
 * call. (Those of a statement or a procedure are in its own log.) */
QUIRE_API const char* quire_request_log(size_t* length);

/* ---- Request units
 * --------------------------------------------------------------------------------------------- */

/* What Azure would have charged for this thread's last call, by its published tables: one that wrote, read or
 * deleted items, executed a procedure or asked a feed; of quire_step, for the statement since its reset. The
 * sizes are those of the items' JSON, guessed from the stored documents: too large of long strings, too small
 * of many repeated names (docs/request-units.md); the index terms are those of this container. 0 after a call
 * that failed, save for a read's QUIRE_NOT_FOUND.
 *
 * A container whose definition has a "throughput" of so many request units a second refuses what is asked of
 * it beyond that with QUIRE_TOO_MANY_REQUESTS. As in the service, it is divided evenly among physical
 * partitions, one for each 10,000 units or 50 GB; imports are not counted. */
QUIRE_API double quire_request_charge(void);

/* ---- The language
 * ------------------------------------------------------------------------------------------------ */

/* A built-in function or aggregate; static storage. */
typedef struct quire_function {
  const char* name;      /* "ARRAY_CONTAINS" */
  const char* signature; /* "ARRAY_CONTAINS(array, value [, partial])"; an aggregate's is its name */
  const char* summary;   /* one line */
} quire_function;
/* The function at a place of the table, by family, aggregates last: 1; 0 past the end. */
QUIRE_API int quire_function_at(size_t index, quire_function* function);

#ifdef __cplusplus
}
#endif

#endif
