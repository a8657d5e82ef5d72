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
string(APPEND text "\nconst int quire_marks_writes = ${is_marked};\n")
file(WRITE ${FILE} "${text}")
