#!/usr/bin/env bash
# csv_test.sh QUIRE: what .export writes as CSV is what Python's csv reads: a cell for each scalar, as it was. Skipped (77)
# without Python.
set -euo pipefail

quire=$(realpath "$1")
command -v python3 >/dev/null || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

cat >items.ndjson <<'END'
{"id":"1","text":"plain","n":1,"o":{"a":"x, \"y\"","deep":{"z":true}}}
{"id":"2","text":"two\nlines, and \"quotes\"","n":-0.5,"o":{"a":"","deep":{"z":null}}}
{"id":"3","text":" blanks ","n":1e300,"list":[1,"a,b",{"c":null}]}
{"id":"4","text":"日本語 – Київ 🚲","n":9223372036854775807,"o":{"a":"tab\there"}}
{"id":"5","text":"\r\nends\r\n","n":0.1,"o":{"a":"'single'; semi"}}
{"id":"6","text":"=1+1","n":123456789.125}
END
"$quire" :memory: ".import items.ndjson c" ".export c items.csv" 2>/dev/null

python3 - <<'END'
import csv, json

def cells(value, name=""):
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from cells(inner, f"{name}.{key}" if name else key)
    else:
        yield name, value

rows = {row["id"]: row for row in csv.DictReader(open("items.csv", newline="", encoding="utf-8"))}
items = [json.loads(line) for line in open("items.ndjson", encoding="utf-8")]
assert len(rows) == len(items), rows
for item in items:
    row = rows[item["id"]]
    expected = dict(cells(item))
    for name, text in row.items():
        if name not in expected:
            assert text == "", (item["id"], name, text)
            continue
        value = expected[name]
        given = text if isinstance(value, str) else json.loads(text)
        assert given == value and type(given) is type(value), (item["id"], name, text, value)
print(f"{len(items)} items read back")
END
