#compdef kubectl-podexit
# zsh completion for kubectl-podexit
# source <(kubectl-podexit completion zsh)
_kubectl_podexit() {
  local -a lines candidates
  local line name about directive=':4'
  lines=("${(@f)$(kubectl-podexit __complete "${(@)words[2,$CURRENT]}" 2>/dev/null)}")
  for line in $lines; do
    if [[ "$line" == :[0-9]* ]]; then directive="$line"; continue; fi
    name="${line%%$'\t'*}"
    about="${line#*$'\t'}"
    [[ "$about" == "$line" ]] && about=''
    candidates+=("${name//:/\\:}${about:+:$about}")
  done
  if [[ "$directive" != ':0' ]]; then _describe -V 'podexit' candidates; return; fi
  # Behind "=" the file stands in the same word.
  [[ "${words[CURRENT]}" == -*=* ]] && compset -P '*='
  _files
}
(( $+functions[compdef] )) && compdef _kubectl_podexit kubectl-podexit
