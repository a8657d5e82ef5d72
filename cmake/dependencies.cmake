# Debian's packages; the README says why each is there.
find_package(PkgConfig REQUIRED)
find_package(simdjson REQUIRED)
find_package(fmt REQUIRED)
pkg_check_modules(RE2 REQUIRED IMPORTED_TARGET re2)
pkg_check_modules(UTF8PROC REQUIRED IMPORTED_TARGET libutf8proc)
pkg_check_modules(GEOGRAPHIC REQUIRED IMPORTED_TARGET geographiclib)
# Linked by its name: it has neither a package file for CMake nor one for pkg-config.
find_library(STEMMER_LIBRARY stemmer REQUIRED)
find_program(LEMON lemon REQUIRED)
