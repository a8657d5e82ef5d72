# cmake -DFILE=qjs.c -P adapt_module.cmake: changes how the C that wasm2c writes uses its memory. What another wasm2c writes in
# another way stays as it is.
file(READ ${FILE} text)

# An access takes eight bytes at most, and behind the memory lie more (kSlackBytes in engine/script/wasm_runtime.h), so it is
# enough that it begins within the memory. And each check goes where it is used, not into a function.
string(REPLACE "#define MEMCHECK(mem, a, t) RANGE_CHECK(mem, a, sizeof(t))"
               "#define MEMCHECK(mem, a, t) if (UNLIKELY((a) >= mem->size)) TRAP(OOB)" text "${text}")
foreach(result IN ITEMS t3 void)
  string(REPLACE "  static inline ${result} name(wasm_rt_memory_t*"
                 "  static inline __attribute__((always_inline)) ${result} name(wasm_rt_memory_t*" text "${text}")
endforeach()

# Most values that the engine lets go of are no references, or not the last one, which is told where it happens rather than by
# a call: those with a count, which stands before them, begin at the number below. All of it or nothing.
set(declared "static void w2c_JS_FreeValue(Z_qjs_instance_t*, u32, u64);")
set(call "w2c_JS_FreeValue(instance, ")
set(freed "  w2c_j1 = 18446744035054845952ull;\n  w2c_i0 = w2c_j0 < w2c_j1;\n  if (w2c_i0) {goto w2c_B0;}")
string(FIND "${text}" "${declared}" place)
string(FIND "${text}" "${freed}" freed_place)
if(NOT place EQUAL -1 AND NOT freed_place EQUAL -1)
  string(REPLACE "${call}" "quire_free_value(instance, " text "${text}")
  string(REPLACE "${declared}" "${declared}
static inline __attribute__((always_inline)) void quire_free_value(Z_qjs_instance_t* instance, u32 context, u64 value) {
  if (value < 18446744035054845952ull) return;
  QUIRE_MEMORY_PLACE(instance)
  const u64 place = (u32)value - 4u;
  const u32 count = i32_load(&instance->w2c_memory, place);
  if ((s32)count > 1)
    i32_store(&instance->w2c_memory, place, count - 1);
  else
    w2c_JS_FreeValue(instance, context, value);
}" text "${text}")
endif()

# Each write is marked (engine/script/wasm_prelude.h), and a function asks once where the memory lies, which never changes:
# after each byte that is written the compiler would have it asked again. All of it or nothing: where a way to write is
# missing, quire_marks_writes is 0, and nothing relies on the marks.
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
set(register "w2c_i[0-9]")
set(load "\\((quire_data, )?&instance->w2c_memory, \\(u64\\)\\(${register}\\)")
set(then ";\n *")
set(question "(${register} = i32_load${load}( \\+ 8u)?\\)${then})?${register} = i32_load8_u${load} \\+ 753u\\)${then}${register} = 128u${then}${register} &= ${register}${then}if \\(${register}\\) {")
string(REGEX REPLACE "${question}" "if (0) {" unasked "${text}")
string(REGEX MATCHALL "if .0. {" questions "${unasked}")
list(LENGTH questions question_count)
if(question_count GREATER 200)
  set(text "${unasked}")
endif()

string(APPEND text "\nconst int quire_marks_writes = ${is_marked};\n")
file(WRITE ${FILE} "${text}")
