#!/usr/bin/env bash
# manual_test.sh QUIRE: runs the examples of docs/quire.1, one after the other. Each must succeed.
set -euo pipefail

quire=$(realpath "$1")
manual=$(realpath "$(dirname "$0")/../../docs/quire.1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
ln -s "$quire" "$folder/quire"
export PATH=$folder:$PATH
cd "$folder"

ran=0
while IFS= read -r command; do
  bash -o pipefail -c "$command" >output 2>&1 || { printf 'quire.1: %s\n' "$command"; cat output; exit 1; }
  ran=$((ran + 1))
done < <(awk '/^\.nf$/ {inside = 1; next} /^\.fi$/ {inside = 0} inside' "$manual" | sed 's/\\-/-/g')
[ "$ran" -gt 0 ] || { echo "quire.1 has no examples to run"; exit 1; }
echo "$ran examples of quire.1 ran"
