#!/usr/bin/env bash
# readme_test.sh QUIRE: runs the commands of README.md's ```sh blocks in a folder of their own. Each must succeed.
set -euo pipefail

quire=$(realpath "$1")
source=$(realpath "$(dirname "$0")/../..")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/build/try"
ln -s "$quire" "$folder/build/try/quire"
ln -s "$source/examples" "$folder/examples"
cd "$folder"

ran=0
while IFS= read -r command; do
  bash -c "$command" >"$folder/output" 2>&1 || { printf 'README.md: %s\n' "$command"; cat "$folder/output"; exit 1; }
  ran=$((ran + 1))
done < <(awk '/^```sh$/ {inside = 1; next} /^```/ {inside = 0} inside' "$source/README.md")
[ "$ran" -gt 0 ] || { echo "README.md has no commands to run"; exit 1; }
echo "$ran commands of README.md ran"
