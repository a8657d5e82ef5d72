# The language, the warnings, the sanitizers: the same for every target.
set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

add_compile_options(-Wall -Wextra)
# A compiler that is newer than those this was built with may warn of more, which is no reason for somebody's build to fail.
if((CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 15) OR
   (CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 20))
  add_compile_options(-Werror)
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  # Memory that is asked for to be written to comes for this processor alone. Those that do not know the instruction pass it over.
  add_compile_options(-mprfchw)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC's bug 105651: std::string's operator+ with a literal is reported though it is right.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # std::stable_sort of GCC 12's library calls a function that the library itself calls deprecated.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-deprecated-declarations>)
endif()
if(QUIRE_SANITIZE)
  add_compile_options(-fsanitize=${QUIRE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${QUIRE_SANITIZE})
  # It knows no fences. There is one, and it orders what LMDB reads, which is not instrumented (reader_pool.cpp).
  if(QUIRE_SANITIZE STREQUAL "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-tsan>)
  endif()
endif()

if(QUIRE_TOGETHER AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC collects what it no longer needs: a tenth of its time, for 2 GB at most.
  add_compile_options(--param=ggc-min-expand=1000 --param=ggc-min-heapsize=4000000)
endif()

# Compiles the files of a target at once where QUIRE_TOGETHER is set, 64 of them at most, but for those named.
function(quire_together target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${QUIRE_TOGETHER} UNITY_BUILD_BATCH_SIZE 64)
  if(QUIRE_TOGETHER)
    # A type that holds one of its own file's is none of a header then.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
  list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# A program that tries what others are linked into: it lies beside the presets' other programs, and is not optimized
# itself, which would take longer to compile than it saves. After it the files as for quire_together.
function(quire_trial_program target)
  quire_together(${target} ${ARGN})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_options(${target} PRIVATE -O0)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
endfunction()

if(QUIRE_COVERAGE)
  add_link_options(--coverage)
endif()

# What reads files, statements and scripts of strangers is compiled so that a mistake in it is hard to use. The sanitizers
# have checks of their own, which a fortified function would go around.
if(QUIRE_SANITIZE)
  # At fixed addresses: a program, and each test runs in one of its own, would begin by adjusting 900,000 pointers.
  add_link_options($<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
else()
  include(CheckPIESupported)
  check_pie_supported()
endif()
add_link_options(-Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
function(quire_harden target)
  target_compile_options(${target} PRIVATE -Wconversion -fstack-protector-strong -fstack-clash-protection)
  if(NOT QUIRE_SANITIZE)
    target_compile_options(${target} PRIVATE $<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE> $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=2>)
  endif()
endfunction()

# For what runs once a row or an item: calls are inlined where GCC would take the growth for too much. Worth a tenth of such
# work (docs/performance.md), and a fifteenth of the library's size; a limit for each file would otherwise be used up where
# QUIRE_TOGETHER has made one of many.
function(quire_inline_more target)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set(limits --param=max-inline-insns-auto=80 --param=inline-min-speedup=5 --param=large-function-growth=400
               --param=inline-unit-growth=150)
    target_compile_options(${target} PRIVATE "$<$<NOT:$<CONFIG:Debug>>:${limits}>")
  endif()
endfunction()
