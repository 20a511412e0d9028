# bash completion of pratique. Load it with: source <(pratique completion bash)
_pratique() {
  local cur words
  cur="${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=()
  if [[ "${COMP_WORDS[COMP_CWORD-1]}" == --* && "$cur" != -* ]]; then
    return 0 # a flag's value: bash completes files
  fi
  words=("${COMP_WORDS[@]:0:COMP_CWORD}")
  if [[ "$cur" == -* ]]; then
    words+=("$cur")
  fi
  local IFS=$'\n'
  COMPREPLY=($(compgen -W "$("${words[@]}" --generate-bash-completion 2>/dev/null)" -- "$cur"))
}
complete -o bashdefault -o default -F _pratique pratique
