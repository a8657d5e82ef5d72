#!/usr/bin/env bash
# terminal_test.sh QUIRE: the program on a real terminal, by tmux: keys are sent and the screen is read. Exit 77 (skipped) without tmux.
set -euo pipefail

command -v tmux >/dev/null || { echo "tmux is missing: ./dev test installs it, or apt-get install tmux"; exit 77; }
quire=$(realpath "$1")
folder=$(mktemp -d)
socket=$folder/tmux
trap 'tmux -S "$socket" kill-server 2>/dev/null || true; rm -rf "$folder"' EXIT
export LC_ALL=C.UTF-8 HOME=$folder QUIRE_HISTORY=$folder/history PAGER=
unset NO_COLOR XDG_STATE_HOME TMUX

tm() { tmux -S "$socket" -f /dev/null "$@"; }
screen() { tm capture-pane -p -J -t quire; }
keys() { tm send-keys -t quire "$@"; }
line() { tm send-keys -t quire -l "$1"; keys Enter; }

# await WHAT CONDITION...: until the condition holds, however slow the machine is.
await() {
  for _ in $(seq 600); do
    if "${@:2}"; then return; fi
    sleep 0.1
  done
  printf 'waited for: %s\nthe screen:\n' "$1"
  screen
  exit 1
}
shows() { screen | grep -F -- "$1" >/dev/null; }
mode() { stty -F "$(tm display-message -p -t quire '#{pane_tty}')" -a | tr ' ;' '\n' | grep -x -- "$1" >/dev/null; }
is_at_prompt() { [[ $(screen | sed 's/ *$//; /^$/d' | tail -n 1) == 'quire>' ]] && mode -icanon; }
has_left() { ! tm has-session -t quire 2>/dev/null; }

# expect TEXT: waits until the screen shows it, be it in an answer or in the line that is being typed.
expect() { await "$1" shows "$1"; }
# answer TEXT: also that all is said: keys sent before belong to a statement (Ctrl-C) or to no one (Ctrl-D).
answer() { expect "$1" && await 'a new prompt' is_at_prompt; }
start() {
  tm new-session -d -s quire -x 100 -y 40 "$quire $folder/t.quire"
  await 'the prompt' is_at_prompt
}
leave() {
  keys C-d
  await 'the end of the program by Ctrl-D' has_left
}

start
line '.generate people persons 50'
answer '50 items generated'

# Completion: a command, a keyword, a container, a property path of the data.
keys -l '.conta'; keys Tab; expect '.containers'; keys C-u
keys -l 'SELECT p.address.ci'; keys Tab; expect 'p.address.city'
keys -l ' AS town FROM pers'; keys Tab; expect 'FROM persons'
keys -l 'p WHERE STARTSW'; keys Tab; expect 'STARTSWITH('; keys C-u

# A statement over several lines.
line 'SELECT VALUE (40 +'
line '2)'
answer '42'

# Text of all widths stands in columns: what follows it begins in the same column.
line "SELECT x.t AS text, x.n AS mark FROM x IN (SELECT VALUE [{t:'Вогонь', n:'|1'}, {t:'日本語', n:'|2'}, {t:'🙂🙂🙂', n:'|3'}, {t:'abcdef', n:'|4'}])"
answer '|4'
widths=$(screen | grep -E '\|[1-4]$' | grep -vF SELECT | while read -r shown; do
  python3 -c 'import sys, unicodedata
text = sys.argv[1].split("|")[0]
print(sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text))' "$shown"
done | uniq -c)
[[ $widths =~ ^\ *4\ [0-9]+$ ]] || { echo 'columns are not aligned'; screen; exit 1; }

# Ctrl-C ends an endless cross join soon and keeps the session.
join="SELECT VALUE COUNT(1) FROM a IN (SELECT VALUE [0,1,2,3,4,5,6,7,8,9])"
for i in 1 2 3 4 5 6 7 8 9 10 11; do join+=" JOIN a$i IN (SELECT VALUE [0,1,2,3,4,5,6,7,8,9])"; done
line "$join"
await 'the statement to run' mode icanon
keys C-c
answer 'interrupted'
line 'SELECT VALUE 70 + 1'
answer '71'

# A very wide value, and a narrower terminal: the session lives on, and tables fit.
line ".width 0"
line "SELECT 1 AS n, REPLICATE('w', 10000) AS wide, 'end' AS last"
expect 'wwwwwwwwww'
answer 'end'
tm resize-window -t quire -x 50 -y 30
line "SELECT 'narrow' AS name, REPLICATE('v', 200) AS wide"
answer 'vvvvvvvvvv'
if screen | grep -E '^.{51,}$' | grep -q '^narrow'; then echo 'the table is wider than the terminal'; screen; exit 1; fi
leave

# History outlives the program.
start
keys Up; keys Up
expect "REPLICATE('w'"
keys C-u
grep -qF 'narrow' "$folder/history" || { echo 'the history was not kept'; exit 1; }
await 'an empty line' is_at_prompt
line 'exit'
await 'the end of the program by the word of other shells' has_left
echo 'the terminal session went as it should'
