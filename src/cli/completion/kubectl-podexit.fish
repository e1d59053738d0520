# fish completion for kubectl-podexit
# kubectl-podexit completion fish | source
function __kubectl_podexit_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    kubectl-podexit __complete $words[2..-1] "$current" 2>/dev/null | string match -rv '^:\d+$'
end
function __kubectl_podexit_wants_files
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    kubectl-podexit __complete $words[2..-1] "$current" 2>/dev/null | string match -q ':0'
end
complete -c kubectl-podexit -f -a '(__kubectl_podexit_complete)'
complete -c kubectl-podexit -n __kubectl_podexit_wants_files -F
