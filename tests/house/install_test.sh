#!/usr/bin/env bash
# install_test.sh BUILD_FOLDER: installs Quire to a temporary prefix and builds a small program against it, by find_package and by
# pkg-config; looks for the licences, and at what the shared library exports; compiles the headers as the standards they promise.
set -euo pipefail
export CMAKE_GENERATOR=Ninja  # what ./dev installs, where make may not be

build=$(realpath "$1")
source=$(realpath "$(dirname "$0")/../..")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
prefix=$folder/prefix
cmake --install "$build" --prefix "$prefix" >/dev/null
library=$(dirname "$(find "$prefix" -name libquire.so)")

licences=$(find "$prefix" -path '*/doc/quire/LICENSE*' -printf '%f ')
[[ $licences == *"LICENSE "* ]] || { echo "no licence is installed"; exit 1; }
if grep -q '^QUIRE_SCRIPTS:BOOL=ON' "$build/CMakeCache.txt"; then
  [[ $licences == *LICENSE.quickjs-wasi* ]] || { echo "the script engine's licence is not installed"; exit 1; }
fi

cat >"$folder/main.cpp" <<'CPP'
#include <cstdio>
#include <quire/quire.hpp>

int main() {
  auto database = quire::Database::open(":memory:");
  auto statement = database->prepare("SELECT VALUE 6 * 7");
  for (quire::Value row : statement->rows()) std::printf("%lld\n", static_cast<long long>(row.as_integer()));
}
CPP
cat >"$folder/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES CXX)
find_package(quire 0.1 REQUIRED)
foreach(kind quire static)
  add_executable(user_${kind} main.cpp)
  target_compile_features(user_${kind} PRIVATE cxx_std_20)
  target_link_libraries(user_${kind} PRIVATE quire::${kind})
endforeach()
CMAKE

expect_42() { [ "$("$@")" = 42 ] || { echo "$1 did not print 42"; exit 1; }; }

cmake -S "$folder" -B "$folder/build" -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
cmake --build "$folder/build" >/dev/null
expect_42 "$folder/build/user_quire"
expect_42 "$folder/build/user_static"

export PKG_CONFIG_PATH=$library/pkgconfig
# shellcheck disable=SC2046 # flags are words
g++ -std=c++20 "$folder/main.cpp" -o "$folder/user" $(pkg-config --cflags --libs quire) "-Wl,-rpath,$library"
expect_42 "$folder/user"

# In C alone: by pkg-config and by a project that has no C++.
sees_lyon() { "$@" | grep -q lyon || { echo "$1 did not print lyon"; exit 1; }; }
mkdir "$folder/c"
cp "$source/examples/c/hello.c" "$folder/c"
cat >"$folder/c/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES C)
find_package(quire 0.1 REQUIRED)
foreach(kind quire static)
  add_executable(user_${kind} hello.c)
  target_link_libraries(user_${kind} PRIVATE quire::${kind})
endforeach()
CMAKE
cmake -S "$folder/c" -B "$folder/c/build" -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
cmake --build "$folder/c/build" >/dev/null
sees_lyon "$folder/c/build/user_quire"
sees_lyon "$folder/c/build/user_static"
# shellcheck disable=SC2046 # flags are words
gcc -std=c99 "$folder/c/hello.c" -o "$folder/c/user" -Wl,-Bstatic $(pkg-config --cflags --libs quire) -Wl,-Bdynamic \
  $(pkg-config --static --libs-only-l quire | sed 's/-lquire//')
sees_lyon "$folder/c/user"

others=$(nm -D --defined-only "$library/libquire.so" | awk '{print $3}' | grep -v '^quire_' || true)
[ -z "$others" ] || { printf 'libquire.so exports more than quire_*:\n%s\n' "$others"; exit 1; }

echo '#include <quire/quire.h>' >"$folder/only.c"
gcc -std=c99 -pedantic -Wall -Wextra -Werror -fsyntax-only "-I$source/include" "$folder/only.c"
cat >"$folder/only.cpp" <<'CPP'
#include <quire/quire.hpp>
#include <type_traits>

// What failed would be a success that says false.
static_assert(!std::is_convertible_v<quire::Result<quire::Statement>, quire::Result<bool>>);
static_assert(std::is_convertible_v<bool, quire::Result<bool>>);
CPP
# Not as a system's header: the flags of pkg-config have the warnings that users ask for.
g++ -std=c++20 -Wall -Wextra -Wshadow -Wconversion -Wold-style-cast -Werror -fsyntax-only "-I$source/include" "$folder/only.cpp"
{ g++ -std=c++17 -fsyntax-only "-I$source/include" "$folder/only.cpp" 2>&1 || true; } | grep -q 'needs C++20'
g++ -std=c++20 -fno-exceptions -fno-rtti -Wall -Wextra -Werror -fsyntax-only "-I$source/include" "$folder/main.cpp"
if command -v clang++-19 >/dev/null; then
  clang++-19 -std=c++20 -Wall -Wextra -Werror -fsyntax-only "-I$source/include" "$folder/only.cpp"
fi
