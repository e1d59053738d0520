# bash completion for kubectl-podexit
# source <(kubectl-podexit completion bash)
_kubectl_podexit() {
  local -a words=()
  local line="${COMP_LINE:0:COMP_POINT}" current candidate directive=':4'
  read -ra words <<<"$line"
  [[ "$line" == *[[:space:]] ]] && words+=('')
  current="${words[${#words[@]}-1]}"
  COMPREPLY=()
  while IFS= read -r candidate; do
    if [[ "$candidate" == :[0-9]* ]]; then directive="$candidate"; continue; fi
    candidate="${candidate%%$'\t'*}"
    # bash itself breaks words at "=": only what comes after it is replaced.
    [[ "$current" == *=* ]] && candidate="${candidate#"${current%%=*}="}"
    COMPREPLY+=("$candidate")
  done < <("${words[0]}" __complete "${words[@]:1}" 2>/dev/null)
  [[ "$directive" == ':0' && ${#COMPREPLY[@]} -eq 0 ]] && compopt -o default 2>/dev/null
  return 0
}
complete -F _kubectl_podexit kubectl-podexit
