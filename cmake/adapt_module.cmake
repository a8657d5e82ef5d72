# cmake -DMODULE=qjs -P adapt_module.cmake: changes how the C that wasm2c writes, in qjs.c and qjs.h, uses its memory. What
# another wasm2c writes in another way stays as it is. Known: that of wabt 1.0.32 (Debian 12) and of 1.0.36 (Debian 13).
file(READ ${MODULE}.c text)
file(READ ${MODULE}.h header)

# The names are those of wabt 1.0.33 and later, whose types of functions need no start of their own.
if(text MATCHES "Z_qjs_instantiate")
  set(old_names Z_qjs_instance_t Z_env_instance_t Z_env_instance Z_envZ_ Z_wasi_snapshot_preview1_instance_t
      Z_wasi_snapshot_preview1_instance Z_wasi_snapshot_preview1Z_ Z_qjsZ__ Z_qjsZ_ Z_qjs_ w2c___)
  set(new_names w2c_qjs w2c_env w2c_env_instance w2c_env_ w2c_wasi__snapshot__preview1
      w2c_wasi__snapshot__preview1_instance w2c_wasi__snapshot__preview1_ w2c_qjs_0x5F w2c_qjs_ wasm2c_qjs_ w2c_0x5F_)
  foreach(old new IN ZIP_LISTS old_names new_names)
    string(REPLACE "${old}" "${new}" text "${text}")
    string(REPLACE "${old}" "${new}" header "${header}")
  endforeach()
  string(APPEND header "\n#define wasm2c_qjs_get_func_type wasm_rt_register_func_type\n")
  set(free_value w2c_JS_FreeValue)
  set(free_value_rt w2c_JS_FreeValueRT)
  set(engine_malloc w2c_js_malloc_rt)
  set(engine_free w2c_js_free_rt)
  set(engine_realloc w2c_js_realloc_rt)
else()
  string(APPEND header "\nstatic inline void wasm2c_qjs_init_module(void) {}\n")
  set(free_value w2c_qjs_JS_FreeValue_0)
  set(free_value_rt w2c_qjs_JS_FreeValueRT_0)
  set(engine_malloc w2c_qjs_js_malloc_rt_0)
  set(engine_free w2c_qjs_js_free_rt_0)
  set(engine_realloc w2c_qjs_js_realloc_rt_0)
endif()
file(WRITE ${MODULE}.h "${header}")

# An access takes eight bytes at most, and behind the memory lie more (kSlackBytes in engine/script/wasm_runtime.h), so it is
# enough that it begins within the memory. And each check goes where it is used, not into a function.
set(gap "[ \\\n]*")
string(REGEX REPLACE "(#define MEMCHECK\\(mem, a, t\\))${gap}(WASM_RT_CHECK_BASE\\(mem\\);)?${gap}RANGE_CHECK\\(mem, a, sizeof\\(t\\)\\)"
                     "\\1 if (UNLIKELY((a) >= mem->size)) TRAP(OOB)" text "${text}")
foreach(result IN ITEMS t3 void)
  string(REPLACE "  static inline ${result} name(wasm_rt_memory_t*"
                 "  static inline __attribute__((always_inline)) ${result} name(wasm_rt_memory_t*" text "${text}")
endforeach()

# Most values that the engine lets go of are no references, or not the last one, which is told where it happens rather than by
# a call: those with a count, which stands before them, begin at the number below. All of it or nothing.
foreach(way IN ITEMS free_value free_value_rt)
  set(name ${${way}})
  set(declared "static void ${name}(w2c_qjs*, u32, u64);")
  string(FIND "${text}" "${declared}" place)
  if(NOT place EQUAL -1 AND text MATCHES "  [a-z0-9]+_j1 = 18446744035054845952ull;\n  [a-z0-9]+_i0 = [a-z0-9]+_j0 < [a-z0-9]+_j1;\n  if ")
    string(REPLACE " ${name}(instance, " " quire_${way}(instance, " text "${text}")
    string(REPLACE "${declared}" "${declared}
static inline __attribute__((always_inline)) void quire_${way}(w2c_qjs* instance, u32 holder, u64 value) {
  if (value < 18446744035054845952ull) return;
  QUIRE_MEMORY_PLACE(instance)
  const u64 place = (u32)value - 4u;
  const u32 count = i32_load(&instance->w2c_memory, place);
  if ((s32)count > 1)
    i32_store(&instance->w2c_memory, place, count - 1);
  else
    ${name}(instance, holder, value);
}" text "${text}")
  endif()
endforeach()

# Small pieces of memory are taken one behind the other from a place of their own, and not given back, as long as there is
# room in it (QUIRE_PIECES in engine/script/wasm_prelude.h): what a call takes is undone as a whole. Before a piece stand the
# number of its list, as before the engine's own, and QUIRE_PIECE, where that has the number within a page. All or nothing;
# whether the engine counts as is done here is tried when it boots (sandbox_pieces.cpp).
set(uses_pieces 0)
set(declared "static void ${engine_free}(w2c_qjs*, u32, u32);")
string(FIND "${text}" "${declared}" declared_place)
string(FIND "${text}" "void ${engine_free}(w2c_qjs* instance, " place)
if(NOT place EQUAL -1 AND NOT declared_place EQUAL -1)
  string(SUBSTRING "${text}" ${place} 2400 body)
  # The one call there that has no result.
  if(body MATCHES "\n *(w2c_[a-z_]*f[0-9]+)\\(instance, [a-z0-9_]+, [a-z0-9_]+\\);")
    set(give_back ${CMAKE_MATCH_1})
    set(uses_pieces 1)
    string(REPLACE " ${give_back}(instance, " " quire_give_back(instance, " text "${text}")
    string(REPLACE " ${engine_free}(instance, " " quire_free(instance, " text "${text}")
    string(REPLACE " ${engine_malloc}(instance, " " quire_malloc(instance, " text "${text}")
    string(REPLACE " ${engine_realloc}(instance, " " quire_realloc(instance, " text "${text}")
    string(REPLACE "${declared}" "${declared}
static void ${give_back}(w2c_qjs*, u32, u32);
static u32 ${engine_realloc}(w2c_qjs*, u32, u32, u32);
static __attribute__((noinline)) u32 quire_malloc_of_engine(w2c_qjs* instance, u32 runtime, u32 size) {
  return ${engine_malloc}(instance, runtime, size);
}
static __attribute__((noinline)) void quire_free_of_engine(w2c_qjs* instance, u32 runtime, u32 place) {
  ${engine_free}(instance, runtime, place);
}
static __attribute__((noinline)) u32 quire_malloc(w2c_qjs* instance, u32 runtime, u32 size) {
  QUIRE_MEMORY_PLACE(instance)
  if (size - 1u < QUIRE_LONGEST_PIECE && runtime < instance->w2c_memory.size) {
    const u32 list = QUIRE_LIST_OF_PIECE(size), bytes = QUIRE_BYTES_OF_PIECE(list);
    u32* const left = (u32*)(quire_data + QUIRE_PIECES_LEFT);
    u32* const counts = (u32*)(quire_data + runtime + QUIRE_COUNTS);
    if (bytes <= *left && *left <= QUIRE_PIECES_END - QUIRE_PIECES && counts[1] + bytes <= counts[2] - 1u) {
      const u32 place = QUIRE_PIECES_END - *left;
      *left -= bytes;
      *(u64*)(quire_data + place) = QUIRE_PIECE | list << 16;
      QUIRE_MARK_COUNTS(runtime)
      counts[0] += 1u;
      counts[1] += bytes;
      return place + 8u;
    }
  }
  return quire_malloc_of_engine(instance, runtime, size);
}
static inline int quire_is_piece(w2c_qjs* instance, u32 place) {
  return place - QUIRE_PIECES < QUIRE_PIECES_END - QUIRE_PIECES && *(u16*)(instance->w2c_memory.data + place - 8u) == QUIRE_PIECE;
}
static __attribute__((noinline)) void quire_free(w2c_qjs* instance, u32 runtime, u32 place) {
  QUIRE_MEMORY_PLACE(instance)
  if (!quire_is_piece(instance, place) || runtime >= instance->w2c_memory.size) {
    quire_free_of_engine(instance, runtime, place);
    return;
  }
  u32* const counts = (u32*)(quire_data + runtime + QUIRE_COUNTS);
  QUIRE_MARK_COUNTS(runtime)
  counts[0] -= 1u;
  counts[1] -= QUIRE_BYTES_OF_PIECE(quire_data[place - 6u]);
}
static u32 quire_realloc(w2c_qjs* instance, u32 runtime, u32 place, u32 size) {
  QUIRE_MEMORY_PLACE(instance)
  if (size - 1u >= QUIRE_LONGEST_PIECE || !quire_is_piece(instance, place))
    return ${engine_realloc}(instance, runtime, place, size);
  const u32 room = QUIRE_BYTES_OF_PIECE(quire_data[place - 6u]) - 8u;
  if (size <= room) return place;
  const u32 grown = quire_malloc(instance, runtime, size);
  if (!quire_is_piece(instance, grown)) {
    if (grown != 0u) quire_free(instance, runtime, grown);
    return ${engine_realloc}(instance, runtime, place, size);
  }
  memcpy(quire_data + grown - 5u, quire_data + place - 5u, room + 5u);
  quire_free(instance, runtime, place);
  return grown;
}
static inline void quire_give_back(w2c_qjs* instance, u32 runtime, u32 place) {
  if (!quire_is_piece(instance, place)) ${give_back}(instance, runtime, place);
}" text "${text}")
  endif()
endif()

# Each write is marked (engine/script/wasm_prelude.h), and a function asks once where the memory lies, which never changes:
# after each byte that is written the compiler would have it asked again. All of it or nothing: where a way to write is
# missing, quire_marks_writes is 0, and nothing relies on the marks.
# The places of newer ones are written as older ones have them first.
foreach(value IN ITEMS "" " &wrapped,")
  string(REGEX REPLACE "MEM_ADDR_MEMOP\\(mem, addr, sizeof\\(t1\\)\\),${value}${gap}sizeof" "&mem->data[addr],${value} sizeof" text "${text}")
endforeach()
string(REPLACE "memset(MEM_ADDR(mem, d, n), val, n)" "memset(mem->data + d, val, n)" text "${text}")
string(REPLACE "memmove(MEM_ADDR(dest, dest_addr, n), MEM_ADDR(src, src_addr, n), n)"
               "memmove(dest->data + dest_addr, src->data + src_addr, n)" text "${text}")
set(found "#define FUNC_PROLOGUE" "name(wasm_rt_memory_t* mem, u64 addr" "wasm_rt_memcpy(&result, &mem->data[addr], sizeof(t1))"
    "wasm_rt_memcpy(&mem->data[addr], &wrapped, sizeof(t1))" "memset(mem->data + d, val, n)"
    "memmove(dest->data + dest_addr, src->data + src_addr, n)" "LOAD_DATA((*dest), dest_addr, src + src_addr, n)")
set(wanted "#define FUNC_PROLOGUE QUIRE_MEMORY_PLACE(instance)" "name(u8* data, wasm_rt_memory_t* mem, u64 addr"
    "wasm_rt_memcpy(&result, data + addr, sizeof(t1))"
    "QUIRE_MARK_STORE(data, addr), wasm_rt_memcpy(data + addr, &wrapped, sizeof(t1))"
    "quire_mark_range(mem, d, n), memset(mem->data + d, val, n)"
    "quire_mark_range(dest, dest_addr, n), memmove(dest->data + dest_addr, src->data + src_addr, n)"
    "quire_mark_range(dest, dest_addr, n) QUIRE_THEN LOAD_DATA((*dest), dest_addr, src + src_addr, n)")
set(is_marked 1)
foreach(old IN LISTS found)
  string(FIND "${text}" "${old}" place)
  if(place EQUAL -1)
    set(is_marked 0)
  endif()
endforeach()
if(is_marked)
  foreach(old new IN ZIP_LISTS found wanted)
    string(REPLACE "${old}" "${new}" text "${text}")
  endforeach()
  string(REGEX REPLACE "([if](32|64)_(load|store)[0-9su_]*)\\(&instance->w2c_memory," "\\1(quire_data, &instance->w2c_memory,"
         text "${text}")
endif()

# Before each of its instructions the engine asks whether to print it: a flag of its runtime, which nobody can set. Nothing
# else is asked in 200 places.
set(register "[a-z0-9]+_i[0-9]")
set(load "\\((quire_data, )?&instance->w2c_memory, \\(u64\\)\\(${register}\\)")
set(then ";\n *")
set(question "(${register} = i32_load${load}( \\+ 8u)?\\)${then})?${register} = i32_load8_u${load} \\+ 753u\\)${then}${register} = 128u${then}${register} &= ${register}${then}if \\(${register}\\) {")
string(REGEX REPLACE "${question}" "if (0) {" unasked "${text}")
string(REGEX MATCHALL "if .0. {" questions "${unasked}")
list(LENGTH questions question_count)
if(question_count GREATER 200)
  set(text "${unasked}")
endif()

# An instruction's number leads to its code by two tables: one of the engine's, within the memory, and one of the compiler's.
# The first never changes, so the second is made to lead there at once. All or nothing.
set(label "[A-Za-z0-9_]+")
set(shifted "${register} = 2u${then}${register} <<= \\(${register} & 31\\)${then}")
set(looked_up "${register} = i32_load${load} \\+ ([0-9]+)u\\)${then}${register} = ([0-9]+)u${then}${register} -= ${register}${then}")
set(find_code "(i32_load8_u${load}\\)${then}([a-z0-9]+_l[0-9]+) = ${register};\n) *${shifted}${looked_up}switch \\(${register}\\) {\n")
if(text MATCHES "${find_code}")
  set(opening "${CMAKE_MATCH_0}")
  set(look_at_number "${CMAKE_MATCH_1}")
  set(number ${CMAKE_MATCH_3})
  set(table_at ${CMAKE_MATCH_5})
  set(first_case ${CMAKE_MATCH_6})
  set(segment "")
  if(text MATCHES "w2c_memory, ${table_at}u, (data_segment_data_[a-z0-9_]+), 10[2-9][0-9]\\)")
    set(segment ${CMAKE_MATCH_1})
  endif()
  string(FIND "${text}" "static const u8 ${segment}[] = {" table_place)
  string(FIND "${text}" "${opening}" place)
  string(LENGTH "${opening}" opening_length)
  math(EXPR cases_place "${place} + ${opening_length}")
  string(SUBSTRING "${text}" ${cases_place} 20000 cases)
  string(FIND "${cases}" "}" cases_length)
  if(segment AND NOT table_place EQUAL -1 AND cases_length GREATER 0)
    string(SUBSTRING "${cases}" 0 ${cases_length} cases)
    string(REGEX MATCHALL "case [0-9]+: goto ${label}" labels "${cases}")
    string(REGEX MATCH "default: goto ${label}" otherwise "${cases}")
    string(SUBSTRING "${text}" ${table_place} 8000 table)
    string(REGEX MATCHALL "0x[0-9a-f][0-9a-f]" bytes "${table}")
    list(LENGTH labels label_count)
    set(direct "")
    foreach(instruction RANGE 255)
      math(EXPR low "4 * ${instruction}")
      math(EXPR high "4 * ${instruction} + 1")
      list(GET bytes ${low} ${high} entry)
      list(GET entry 0 low)
      list(GET entry 1 high)
      math(EXPR case "${low} + 256 * ${high} - ${first_case}")
      if(case GREATER_EQUAL 0 AND case LESS label_count)
        list(GET labels ${case} code)
        string(REGEX REPLACE "case [0-9]+" "case ${instruction}" code "${code}")
        string(APPEND direct "          ${code};\n")
      endif()
    endforeach()
    string(APPEND direct "          ${otherwise};\n        ")
    string(REPLACE "${opening}${cases}" "${look_at_number}        switch (${number}) {\n${direct}" text "${text}")
  endif()
endif()

string(APPEND text "\nconst int quire_marks_writes = ${is_marked}, quire_uses_pieces = ${uses_pieces};\n")
file(WRITE ${MODULE}.c "${text}")
