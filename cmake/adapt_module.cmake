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
else()
  string(APPEND header "\nstatic inline void wasm2c_qjs_init_module(void) {}\n")
  set(free_value w2c_qjs_JS_FreeValue_0)
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
set(declared "static void ${free_value}(w2c_qjs*, u32, u64);")
set(call "${free_value}(instance, ")
string(FIND "${text}" "${declared}" place)
if(NOT place EQUAL -1 AND text MATCHES "  [a-z0-9]+_j1 = 18446744035054845952ull;\n  [a-z0-9]+_i0 = [a-z0-9]+_j0 < [a-z0-9]+_j1;\n  if ")
  string(REPLACE "${call}" "quire_free_value(instance, " text "${text}")
  string(REPLACE "${declared}" "${declared}
static inline __attribute__((always_inline)) void quire_free_value(w2c_qjs* instance, u32 context, u64 value) {
  if (value < 18446744035054845952ull) return;
  QUIRE_MEMORY_PLACE(instance)
  const u64 place = (u32)value - 4u;
  const u32 count = i32_load(&instance->w2c_memory, place);
  if ((s32)count > 1)
    i32_store(&instance->w2c_memory, place, count - 1);
  else
    ${free_value}(instance, context, value);
}" text "${text}")
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

string(APPEND text "\nconst int quire_marks_writes = ${is_marked};\n")
file(WRITE ${MODULE}.c "${text}")
