# Completion of the program quire for bash.
_quire() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
  case $before in
    --mode) mapfile -t COMPREPLY < <(compgen -W "auto json array jsonl table csv tsv markdown vertical insert" -- "$word") ;;
    --durability) mapfile -t COMPREPLY < <(compgen -W "full relaxed none" -- "$word") ;;
    *)
      if [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "--help --version --read-only --untrusted --trust-scripts --strict --mode --durability" -- "$word")
      else
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
      fi
      ;;
  esac
}
complete -o filenames -F _quire quire
