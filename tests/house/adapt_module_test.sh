#!/usr/bin/env bash
# Whether what cmake/adapt_module.cmake changes is found in C as wabt 1.0.32 writes it, and as 1.0.36 does, of which a machine has
# one: without it scripts run as they should, only slower.
set -euo pipefail
source=$(realpath "$(dirname "$0")/../..")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

expect() { grep -qF -- "$1" "$2" || { echo "as $form: $2 has no: $1"; exit 1; }; }

# What both write alike.
common() {
  cat <<'C'
#define FUNC_PROLOGUE \
  if (++wasm_rt_call_stack_depth > WASM_RT_MAX_CALL_STACK_DEPTH)
  static inline t3 name(wasm_rt_memory_t* mem, u64 addr) { \
  static inline void name(wasm_rt_memory_t* mem, u64 addr, t2 value) { \
  LOAD_DATA((*dest), dest_addr, src + src_addr, n);
C
}

# The two tables that lead to an instruction's code: the numbers of all are 2, but for the first, which is 3. $1: a name's beginning,
# $2: that of a segment of data.
dispatch() {
  echo "static const u8 data_segment_data_$2_d0[] = {"
  echo "  0x03, 0x00, 0x00, 0x00, "
  for _ in {1..255}; do echo "  0x02, 0x00, 0x00, 0x00, "; done
  cat <<C
};
  LOAD_DATA(instance->w2c_memory, 5000u, data_segment_data_$2_d0, 1024);
    $1_i1 = i32_load8_u(&instance->w2c_memory, (u64)($1_i1));
    $1_l12 = $1_i1;
    $1_i2 = 2u;
    $1_i1 <<= ($1_i2 & 31);
    $1_i1 = i32_load(&instance->w2c_memory, (u64)($1_i1) + 5000u);
    $1_i2 = 2u;
    $1_i1 -= $1_i2;
    switch ($1_i1) {
      case 0: goto $1_B7;
      case 1: goto $1_B8;
      default: goto $1_B9;
    }
C
}

check() {
  cmake -DMODULE=qjs -P "$source/cmake/adapt_module.cmake"
  expect 'const int quire_marks_writes = 1, quire_uses_pieces = 1;' qjs.c
  expect '#define MEMCHECK(mem, a, t) if (UNLIKELY((a) >= mem->size)) TRAP(OOB)' qjs.c
  expect 'quire_free_value(instance, i, j);' qjs.c
  expect 'quire_free_value_rt(instance, i, j);' qjs.c
  expect "switch ($1_l12) {" qjs.c
  expect "case 0: goto $1_B8;" qjs.c
  expect "case 255: goto $1_B7;" qjs.c
  expect "default: goto $1_B9;" qjs.c
  expect ' quire_give_back(instance, ' qjs.c
  expect ' quire_malloc(instance, i, j);' qjs.c
  expect ' quire_realloc(instance, i, j, k);' qjs.c
  expect 'i32_load(quire_data, &instance->w2c_memory, (u64)(i));' qjs.c
  expect 'void wasm2c_qjs_instantiate(w2c_qjs*, struct w2c_env*);' qjs.h
  expect 'u64 w2c_qjs_JS_NewObject(w2c_qjs*, u32);' qjs.h
  expect 'w2c_qjs_0x5Finitialize' qjs.h
}

form=1.0.32
{
  common
  cat <<'C'
#define MEMCHECK(mem, a, t) RANGE_CHECK(mem, a, sizeof(t))
    wasm_rt_memcpy(&result, &mem->data[addr], sizeof(t1)); \
    wasm_rt_memcpy(&mem->data[addr], &wrapped, sizeof(t1)); \
  memset(mem->data + d, val, n);
  memmove(dest->data + dest_addr, src->data + src_addr, n);
static void w2c_JS_FreeValue(Z_qjs_instance_t*, u32, u64);
static void w2c_JS_FreeValueRT(Z_qjs_instance_t*, u32, u64);
static void w2c_js_free_rt(Z_qjs_instance_t*, u32, u32);
static void w2c_js_free_rt(Z_qjs_instance_t* instance, u32 w2c_p0, u32 w2c_p1) {
  w2c_f23(instance, w2c_i0, w2c_i1);
}
  w2c_i0 = w2c_js_malloc_rt(instance, i, j);
  w2c_i0 = w2c_js_realloc_rt(instance, i, j, k);
  w2c_j1 = 18446744035054845952ull;
  w2c_i0 = w2c_j0 < w2c_j1;
  if (w2c_i0) {goto w2c_B0;}
  w2c_JS_FreeValue(instance, i, j);
  w2c_JS_FreeValueRT(instance, i, j);
  w2c_i0 = i32_load(&instance->w2c_memory, (u64)(i));
void Z_qjs_instantiate(Z_qjs_instance_t* instance, struct Z_env_instance_t* Z_env_instance) {}
C
  dispatch w2c w2c
} >qjs.c
cat >qjs.h <<'C'
void Z_qjs_instantiate(Z_qjs_instance_t*, struct Z_env_instance_t*);
u64 Z_qjsZ_JS_NewObject(Z_qjs_instance_t*, u32);
void Z_qjsZ__initialize(Z_qjs_instance_t*);
C
check w2c

form=1.0.36
{
  common
  cat <<'C'
#define MEMCHECK(mem, a, t) \
  WASM_RT_CHECK_BASE(mem);  \
  RANGE_CHECK(mem, a, sizeof(t))
    wasm_rt_memcpy(&result, MEM_ADDR_MEMOP(mem, addr, sizeof(t1)), \
                   sizeof(t1)); \
    wasm_rt_memcpy(MEM_ADDR_MEMOP(mem, addr, sizeof(t1)), &wrapped, \
                   sizeof(t1)); \
  memset(MEM_ADDR(mem, d, n), val, n);
  memmove(MEM_ADDR(dest, dest_addr, n), MEM_ADDR(src, src_addr, n), n);
static void w2c_qjs_JS_FreeValue_0(w2c_qjs*, u32, u64);
static void w2c_qjs_JS_FreeValueRT_0(w2c_qjs*, u32, u64);
static void w2c_qjs_js_free_rt_0(w2c_qjs*, u32, u32);
void w2c_qjs_js_free_rt_0(w2c_qjs* instance, u32 var_p0, u32 var_p1) {
  w2c_qjs_f23(instance, var_i0, var_i1);
}
  var_i0 = w2c_qjs_js_malloc_rt_0(instance, i, j);
  var_i0 = w2c_qjs_js_realloc_rt_0(instance, i, j, k);
  var_j1 = 18446744035054845952ull;
  var_i0 = var_j0 < var_j1;
  if (var_i0) {goto var_B0;}
  w2c_qjs_JS_FreeValue_0(instance, i, j);
  w2c_qjs_JS_FreeValueRT_0(instance, i, j);
  var_i0 = i32_load(&instance->w2c_memory, (u64)(i));
C
  dispatch var w2c_qjs
} >qjs.c
cat >qjs.h <<'C'
void wasm2c_qjs_instantiate(w2c_qjs*, struct w2c_env*);
u64 w2c_qjs_JS_NewObject(w2c_qjs*, u32);
void w2c_qjs_0x5Finitialize(w2c_qjs*);
C
check var
