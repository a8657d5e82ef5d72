#!/usr/bin/env bash
# The rules of the house that a machine can see: which way includes may point, what no file may be called, what every
# folder must say. Prints each breach; exit 1 if there is one.
set -u
cd "$(dirname "$0")/../.." || exit 1
breaches=0

breach() {
  printf '%s\n' "$1"
  breaches=1
}

# files_with PATTERN PATHSPEC...: places where tracked or new files match.
files_with() {
  local pattern=$1
  shift
  git grep --untracked -nE "$pattern" -- "$@"
}

forbid() {
  local rule=$1 found
  shift
  found=$(files_with "$@") && breach "$rule:
$found"
}

sources=('*.cpp' '*.h' '*.hpp' '*.c' '*.y')

forbid 'sql/ includes nothing of the engine' '#include [<"]engine/' 'sql/*'
forbid 'only engine/file (and the benchmark, which measures beside it) sees LMDB' '#include [<"]lmdb\.h' \
  "${sources[@]}" ':!engine/file/*' ':!tests/bench/*' ':!tests/engine/file/*'
forbid 'only engine/script sees a JavaScript engine' '#include [<"](quickjs|qjs)' "${sources[@]}" ':!engine/script/*'
forbid 'only sql/value knows the bytes of a document' '#include "sql/value/document_(layout|writer)\.h"' \
  "${sources[@]}" ':!sql/value/*' ':!tests/sql/value/*'
forbid 'the shell uses include/ alone' '#include "(sql|engine)/' 'shell/*'
forbid 'a TODO names its issue' '\b(TODO|FIXME|XXX|HACK)\b($|[^(])' "${sources[@]}" 'dev' '.ci/*' 'cmake/*'

# CI compiles several files at once, where one finds what another includes; `./dev build` does not.
without=$(git grep --untracked -lE '\bfmt::' -- "${sources[@]}" | xargs grep -L '#include <fmt/') &&
  [ -n "$without" ] && breach "files that use fmt include it:
$without"

# Within sql/ and engine/ each folder includes only those before it.
check_order() {
  local root=$1 above=() layer
  shift
  for layer in "$@"; do
    above+=("$layer")
    local allowed found
    allowed=$(IFS='|'; echo "${above[*]}")
    found=$(files_with "#include \"$root/" "$root/$layer/*" | grep -vE "#include \"$root/(($allowed)/|[a-z_]+\.h\")") &&
      breach "$root/$layer includes what stands on it:
$found"
  done
}
check_order sql value parse functions bind plan run
check_order engine file index catalog container maintenance advisor query script api

drawers=$(git ls-files -co --exclude-standard | grep -iE '(^|/)(utils?|helpers?|common|misc)(\.|/|_)') &&
  breach "drawers that say nothing of what they hold:
$drawers"

# Two classes of one name in one namespace, each defined in a file of its own, compile and link: which functions run is
# then for the linker to choose. Those of an unnamed namespace, whose file says "namespace {", are its own.
# shellcheck disable=SC2016  # it is awk that expands
twins=$(git ls-files -co --exclude-standard 'sql/*.cpp' 'sql/*.h' 'engine/*.cpp' 'engine/*.h' 'shell/*.cpp' 'shell/*.h' | xargs awk '
  FNR == 1 { depth = 0 }
  /^namespace/ { within[++depth] = $2 }
  /^}  \/\/ namespace/ { --depth }
  depth > 0 && within[depth] != "{" && match($0, /^(class|struct) [A-Z][A-Za-z]+( final)?( :| \{)/) {
    split($0, word, " ")
    name = within[depth] "::" word[2]
    if (name in home) print name ": " home[name] ", " FILENAME
    home[name] = FILENAME
  }')
[ -n "$twins" ] && breach "classes of one name:
$twins"

# Of a function that does nothing but this GCC leaves the calls out: sql/value/prefetch.h says why.
raw=$(files_with '__builtin_prefetch' 'sql/*' 'engine/*' 'shell/*' | grep -v '^sql/value/prefetch.h:') &&
  breach "memory asked for without sql/value/prefetch.h:
$raw"

while read -r folder; do
  [ -f "$folder/README.md" ] || breach "$folder has no README.md"
done < <(git ls-files -co --exclude-standard 'sql/*.cpp' 'engine/*.cpp' 'shell/*.cpp' | xargs -n1 dirname | sort -u | grep /)

exit $breaches
