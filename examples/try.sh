#!/usr/bin/env bash
# try.sh QUIRE: loads the example data into a temporary database, shows a few queries, leaves you at the prompt.
set -euo pipefail

quire=$(realpath "$1")
data=$(realpath "$(dirname "$0")/data")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
database=$folder/example.quire

# show ARGUMENT...: what is typed after `quire FILE`, then what it prints. The last argument is the query.
show() {
  printf '\n> %s\n' "${*: -1}"
  "$quire" --mode "$mode" "$database" "$@"
}
mode=jsonl
[ -t 1 ] && mode=auto

printf '> .import examples/data/books.ndjson books\n'
"$quire" "$database" ".import $data/books.ndjson books"
printf '> .import examples/data/readings.ndjson readings --partition-key /deviceId\n'
"$quire" "$database" ".import $data/readings.ndjson readings --partition-key /deviceId"

show "SELECT TOP 3 b.title, b.author, b.year FROM books b ORDER BY b.year DESC"
show "SELECT b.title, r.stars FROM books b JOIN r IN b.reviews WHERE r.stars >= 4"
show 'SELECT r.metric, COUNT(1) AS readings, AVG(r["value"]) AS mean FROM readings r GROUP BY r.metric'
show ".use readings" 'SELECT c.at, c.metric, c["value"] FROM c WHERE c.deviceId = "dev-03" AND c.metric = "humidity"'
show "EXPLAIN ANALYZE SELECT VALUE COUNT(1) FROM readings r WHERE r.deviceId = 'dev-03'"

if [ -t 0 ] && [ -t 1 ]; then
  printf '\nYour turn: .containers lists what there is, .help the commands, Ctrl-D leaves.\n'
  "$quire" "$database"
fi
