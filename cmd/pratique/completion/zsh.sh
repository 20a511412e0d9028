#compdef pratique
# zsh completion of pratique. Load it, after compinit, with: source <(pratique completion zsh)
_pratique() {
  local -a opts words_before
  local cur=${words[CURRENT]}
  words_before=(${words[1,CURRENT-1]})
  if [[ "$cur" == -* ]]; then
    words_before+=("$cur")
  fi
  opts=("${(@f)$("${words_before[@]}" --generate-bash-completion 2>/dev/null)}")
  if [[ -n "${opts[1]}" ]]; then
    compadd -- "${opts[@]}"
  else
    _files
  fi
}
compdef _pratique pratique
