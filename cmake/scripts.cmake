# The JavaScript engine: quickjs-ng as the npm package quickjs-wasi ships it, a WebAssembly module, which wasm2c turns
# into C at build time. npm checks the module against the sha512 of the lockfile and runs none of its scripts.
#
# The C is compiled by a command of its own: once for every preset, since neither the sanitizers nor our warnings are
# for it, and with relative names alone, so that ccache knows it again in any folder.
option(QUIRE_SCRIPTS "Build with JavaScript: procedures, triggers and functions (needs npm and wabt)" ON)
set(script_objects)
if(NOT QUIRE_SCRIPTS)
  return()
endif()

find_program(NPM npm REQUIRED)
find_program(WASM2C wasm2c REQUIRED)
find_path(WASM_RT_DIR wasm-rt.h REQUIRED)

set(script_sources ${PROJECT_SOURCE_DIR}/engine/script)
set(script_dir ${PROJECT_BINARY_DIR}/generated/script)
file(MAKE_DIRECTORY ${script_dir})
set(script_module node_modules/quickjs-wasi/quickjs.wasm)
add_custom_command(
  OUTPUT ${script_dir}/${script_module}
  COMMAND ${CMAKE_COMMAND} -E copy ${script_sources}/package.json ${script_sources}/package-lock.json .
  COMMAND ${NPM} ci --ignore-scripts --no-audit --no-fund --loglevel=error
  DEPENDS ${script_sources}/package.json ${script_sources}/package-lock.json
  WORKING_DIRECTORY ${script_dir} VERBATIM)
add_custom_command(
  OUTPUT ${script_dir}/qjs.c ${script_dir}/qjs.h
  COMMAND ${WASM2C} ${script_module} -n qjs -o qjs.c
  COMMAND ${CMAKE_COMMAND} -DMODULE=qjs -P ${PROJECT_SOURCE_DIR}/cmake/adapt_module.cmake
  DEPENDS ${script_dir}/${script_module} ${PROJECT_SOURCE_DIR}/cmake/adapt_module.cmake
  WORKING_DIRECTORY ${script_dir} VERBATIM)
add_custom_command(
  OUTPUT ${script_dir}/qjs.o
  COMMAND ${CMAKE_COMMAND} -E copy_if_different ${script_sources}/wasm_prelude.h .
  COMMAND ${CMAKE_C_COMPILER_LAUNCHER} ${CMAKE_C_COMPILER} -O2 -w -fPIC -fexceptions -fno-strict-aliasing
          -fvisibility=hidden -I ${WASM_RT_DIR} -include wasm_prelude.h -c qjs.c -o qjs.o
  DEPENDS ${script_dir}/qjs.c ${script_sources}/wasm_prelude.h WORKING_DIRECTORY ${script_dir} VERBATIM)
function(quire_embed_script source header name)
  add_custom_command(
    OUTPUT ${script_dir}/${header}
    COMMAND ${CMAKE_COMMAND} -DINPUT=${script_sources}/${source} -DOUTPUT=${script_dir}/${header} -DNAME=${name}
            -P ${PROJECT_SOURCE_DIR}/cmake/embed_text.cmake
    DEPENDS ${script_sources}/${source} ${PROJECT_SOURCE_DIR}/cmake/embed_text.cmake VERBATIM)
endfunction()
quire_embed_script(library.js library_text.h kLibraryText)
quire_embed_script(collation.js collation_text.h kCollationText)
add_custom_target(quire_script_module DEPENDS ${script_dir}/qjs.o ${script_dir}/qjs.h ${script_dir}/library_text.h ${script_dir}/collation_text.h)
set(script_objects ${script_dir}/qjs.o)
set_source_files_properties(${script_objects} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
