# The folders of the house, from the bottom up. Each is a static library that links only those above it in this
# list, so that an include against the grain does not link.
set(QUIRE_SQL_LAYERS value parse functions bind plan run)
set(QUIRE_ENGINE_LAYERS file index catalog container maintenance advisor query script api)

# EACH_ROW: the layer's code runs for each row or item. APART: files with local names that others of the layer have too.
function(quire_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 layer "EACH_ROW" "" "SOURCES;LINKS;APART")
  file(GLOB sources CONFIGURE_DEPENDS ${layer_SOURCES})
  add_library(quire_${name} STATIC ${sources})
  quire_together(quire_${name} ${layer_APART})
  target_include_directories(quire_${name} PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(quire_${name} PUBLIC ${layer_LINKS})
  quire_harden(quire_${name})
  if(layer_EACH_ROW)
    quire_inline_more(quire_${name})
  endif()
  if(QUIRE_COVERAGE)
    # Atomic, since the tests have threads.
    target_compile_options(quire_${name} PRIVATE --coverage -fprofile-update=atomic)
  endif()
endfunction()

quire_layer(value EACH_ROW SOURCES sql/*.cpp sql/value/*.cpp LINKS simdjson::simdjson fmt::fmt
            APART sql/value/key_encoding.cpp sql/value/number_text.cpp)

quire_layer(parse SOURCES sql/parse/*.cpp LINKS quire_value)
set(grammar_dir ${PROJECT_BINARY_DIR}/generated/sql/parse)
file(MAKE_DIRECTORY ${grammar_dir})
add_custom_command(
  OUTPUT ${grammar_dir}/grammar.c ${grammar_dir}/grammar.h
  COMMAND ${LEMON} -q -d${grammar_dir} ${PROJECT_SOURCE_DIR}/sql/parse/grammar.y
  DEPENDS ${PROJECT_SOURCE_DIR}/sql/parse/grammar.y)
set_source_files_properties(${grammar_dir}/grammar.c PROPERTIES LANGUAGE CXX COMPILE_OPTIONS "-w")
target_sources(quire_parse PRIVATE ${grammar_dir}/grammar.c)
target_include_directories(quire_parse PRIVATE ${PROJECT_BINARY_DIR}/generated)

quire_layer(functions SOURCES sql/functions/*.cpp LINKS quire_value PkgConfig::RE2 PkgConfig::UTF8PROC
            PkgConfig::GEOGRAPHIC stemmer)
quire_layer(bind SOURCES sql/bind/*.cpp LINKS quire_parse quire_functions)
quire_layer(plan SOURCES sql/plan/*.cpp LINKS quire_bind)
quire_layer(run EACH_ROW SOURCES sql/run/*.cpp LINKS quire_plan)

quire_layer(file EACH_ROW SOURCES engine/file/*.cpp LINKS quire_value lmdb xxhash
            APART engine/file/commit_log.cpp engine/file/disk_order.cpp engine/file/log_records.cpp engine/file/log_replay.cpp)
quire_layer(index EACH_ROW SOURCES engine/index/*.cpp LINKS quire_file quire_run xxhash APART engine/index/index_set.cpp)
quire_layer(catalog SOURCES engine/catalog/*.cpp LINKS quire_index
            APART engine/catalog/script_catalog.cpp engine/catalog/script_seals.cpp)
quire_layer(container EACH_ROW SOURCES engine/container/*.cpp LINKS quire_catalog murmurhash xxhash)
quire_layer(maintenance SOURCES engine/maintenance/*.cpp LINKS quire_container)
quire_layer(advisor SOURCES engine/advisor/*.cpp LINKS quire_container quire_run
            APART engine/advisor/reference_survey.cpp engine/advisor/shape_survey.cpp engine/advisor/find_better_embedded.cpp
                  engine/advisor/find_growing_arrays.cpp engine/advisor/find_large_subdocuments.cpp engine/advisor/survey.cpp)
quire_layer(query EACH_ROW SOURCES engine/query/*.cpp LINKS quire_maintenance quire_advisor)
# Without JavaScript there are native procedures alone.
set(script_engine_sources engine/script/native_procedures.cpp engine/script/partition_*.cpp engine/script/query_cache.cpp
                          engine/script/trigger_lookup.cpp engine/script/without_javascript.cpp)
if(QUIRE_SCRIPTS)
  set(script_engine_sources engine/script/[!w]*.cpp engine/script/wasm_runtime.cpp engine/script/watchdog.cpp)
endif()
quire_layer(script SOURCES ${script_engine_sources} LINKS quire_query)
if(QUIRE_SCRIPTS)
  add_dependencies(quire_script quire_script_module)
  target_include_directories(quire_script PRIVATE ${script_dir} ${PROJECT_BINARY_DIR} ${WASM_RT_DIR})
  target_link_libraries(quire_script INTERFACE ${script_objects})
endif()
quire_layer(api EACH_ROW SOURCES engine/api/*.cpp LINKS quire_script)
target_compile_definitions(quire_api PRIVATE QUIRE_VERSION="${PROJECT_VERSION}")
