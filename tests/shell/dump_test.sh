#!/usr/bin/env bash
# dump_test.sh QUIRE: .dump of countries with indexes, scripts and triggers makes an equal database anew. Of sample data where
# the countries are not at hand.
# shellcheck disable=SC1111  # quotes of other scripts are data here
set -euo pipefail

quire=$(realpath "$1")
countries=$(dirname "$0")/../../../shared/data/countries.ndjson
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
if [ -e "$countries" ]; then
  "$quire" "$folder/a.quire" ".import $countries countries --partition-key /region" 2>/dev/null
else
  "$quire" "$folder/a.quire" '.create {"id":"countries","partitionKey":{"paths":["/address/country"]}}' \
    '.generate people countries 500' 2>/dev/null
fi
cd "$folder"

"$quire" a.quire "CREATE INDEX areas ON countries (area DESC, id)" "CREATE INDEX names ON countries ('/name/common')" \
  "CREATE INDEX currencies ON countries ('/currencies/[]/code')" \
  "ALTER CONTAINER countries WITH {computedProperties: [{name: 'lower', query: 'SELECT VALUE LOWER(c.name.common) FROM c'}], changeFeedPolicy: {retentionDuration: 60}}" \
  "CREATE CONTAINER notes PARTITION KEY (/of, /who) WITH {defaultTtl: 86400, uniqueKeyPolicy: {uniqueKeys: [{paths: ['/title']}]}}" \
  "INSERT INTO notes VALUES {id: '1', of: 'a', who: 'b', title: 'Ünïcode “quotes” \n\t 日本'}, {id: '2', who: null, n: 9007199254740993, x: 1e-300}"
if "$quire" a.quire "CREATE FUNCTION twice ON countries AS \$\$ function (x) { return x * 2; } \$\$" 2>/dev/null; then
  "$quire" a.quire "CREATE PROCEDURE 'count all' ON countries AS \$\$
function () {
  // a comment; with 'quotes'
.not a command
}\$\$" 2>/dev/null && { echo 'a script that is none was taken'; exit 1; }
  "$quire" a.quire "CREATE PROCEDURE 'count all' ON countries AS \$\$
function () {
  // a comment; with 'quotes', and \"others\"

  __.filter(function (d) { return true; }, { pageSize: -1 }, function (err, all) { getContext().getResponse().setBody(all.length); });
}\$\$" "CREATE TRIGGER stamp PRE CREATE ON notes ALWAYS AS \$\$ function () { var r = getContext().getRequest(), d = r.getBody(); d.stamped = true; r.setBody(d); } \$\$" \
    "CREATE TRIGGER named POST ALL ON countries AS \$\$ function () { console.log('seen'); } \$\$"
  scripts=(".scripts countries" ".scripts notes" "SELECT VALUE udf.twice(c.area) FROM countries c"
    "INSERT INTO notes VALUES {id: 'new', of: 'z', who: 'y'} RETURNING VALUE notes.stamped"
    "UPDATE countries c SET c.n = 1 WHERE c.area > 9000000 POST TRIGGER named")
fi

"$quire" a.quire .dump >dump
"$quire" b.quire <dump 2>/dev/null
"$quire" b.quire .dump >again
cmp dump again
[ "$("$quire" b.quire .check)" = "$("$quire" a.quire .check)" ]

# Sizes aside: names get their numbers in the order in which they come, and low numbers take fewer bytes.
compare() {
  for database in a b; do
    "$quire" $database.quire "$1" 2>$database.err | sed -E 's/"([A-Za-z]*[Bb]ytes)":[0-9.]+/"\1":0/g' >$database.out || true
  done
  cmp a.out b.out || { echo "differs: $1"; exit 1; }
  cmp a.err b.err || { echo "differs: $1"; exit 1; }
}
for query in .containers .indexes ".describe countries" ".describe notes" ".partitions countries" \
  "SELECT c.id, c.area, c.lower FROM countries c ORDER BY c.area DESC, c.id" \
  "EXPLAIN SELECT c.id FROM countries c ORDER BY c.area DESC, c.id" \
  "SELECT VALUE c.id FROM countries c WHERE c.name.common = 'Ukraine'" \
  "EXPLAIN SELECT VALUE c.id FROM countries c WHERE c.name.common = 'Ukraine'" \
  "SELECT c.region, COUNT(1) AS n, SUM(c.population) AS p FROM countries c GROUP BY c.region ORDER BY c.region" \
  "SELECT c.id, k AS neighbour FROM countries c JOIN k IN c.borders ORDER BY c.id, k" \
  "SELECT * FROM (SELECT VALUE {id: n.id, of: n.of, who: n.who, title: n.title, n: n.n, x: n.x} FROM notes n) AS m ORDER BY m.id" \
  "INSERT INTO notes VALUES {id: '3', of: 'a', who: 'b', title: 'Ünïcode “quotes” \n\t 日本'}" \
  "SELECT VALUE COUNT(1) FROM countries" "${scripts[@]}"; do
  compare "$query"
done
echo "$(wc -l <dump) lines of .dump made an equal database"
