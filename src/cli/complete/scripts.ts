/** The completion scripts: each passes the words to `kubectl-podexit __complete` and shows the answer. */
import { oneOf } from '../usage.ts';
import { newCommand, type AddCommand } from '../command.ts';

export const shells = ['bash', 'zsh', 'fish', 'powershell'] as const;

const bash = String.raw`# bash completion for kubectl-podexit
# source <(kubectl-podexit completion bash)
_kubectl_podexit() {
  local -a words=()
  local line="${'$'}{COMP_LINE:0:COMP_POINT}" current candidate directive=':4'
  read -ra words <<<"$line"
  [[ "$line" == *[[:space:]] ]] && words+=('')
  current="${'$'}{words[${'$'}{#words[@]}-1]}"
  COMPREPLY=()
  while IFS= read -r candidate; do
    if [[ "$candidate" == :[0-9]* ]]; then directive="$candidate"; continue; fi
    candidate="${'$'}{candidate%%$'\t'*}"
    # bash itself breaks words at "=": only what comes after it is replaced.
    [[ "$current" == *=* ]] && candidate="${'$'}{candidate#"${'$'}{current%%=*}="}"
    COMPREPLY+=("$candidate")
  done < <("${'$'}{words[0]}" __complete "${'$'}{words[@]:1}" 2>/dev/null)
  [[ "$directive" == ':0' && ${'$'}{#COMPREPLY[@]} -eq 0 ]] && compopt -o default 2>/dev/null
  return 0
}
complete -F _kubectl_podexit kubectl-podexit
`;

const zsh = String.raw`#compdef kubectl-podexit
# zsh completion for kubectl-podexit
# source <(kubectl-podexit completion zsh)
_kubectl_podexit() {
  local -a lines candidates
  local line name about directive=':4'
  lines=("${'$'}{(@f)$(kubectl-podexit __complete "${'$'}{(@)words[2,$CURRENT]}" 2>/dev/null)}")
  for line in $lines; do
    if [[ "$line" == :[0-9]* ]]; then directive="$line"; continue; fi
    name="${'$'}{line%%$'\t'*}"
    about="${'$'}{line#*$'\t'}"
    [[ "$about" == "$line" ]] && about=''
    candidates+=("${'$'}{name//:/\\:}${'$'}{about:+:$about}")
  done
  if [[ "$directive" != ':0' ]]; then _describe -V 'podexit' candidates; return; fi
  # Behind "=" the file stands in the same word.
  [[ "${'$'}{words[CURRENT]}" == -*=* ]] && compset -P '*='
  _files
}
(( $+functions[compdef] )) && compdef _kubectl_podexit kubectl-podexit
`;

const fish = String.raw`# fish completion for kubectl-podexit
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
`;

/**
 * PowerShell before 7.3, or in Legacy mode, drops an empty argument unless it is written `""`. A word typed in quotes
 * is passed without them; a name that PowerShell would split comes back in quotes.
 */
const powershell = String.raw`# PowerShell completion for kubectl-podexit
# kubectl-podexit completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName 'kubectl-podexit', 'kubectl-podexit.exe' -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @($commandAst.CommandElements | Select-Object -Skip 1 | ForEach-Object {
    if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value } else { $_.Extent.Text }
  })
  $drops = $PSVersionTable.PSVersion -lt [version]'7.3.0' -or $PSNativeCommandArgumentPassing -eq 'Legacy'
  if ($wordToComplete -eq '') { $words += $(if ($drops) { '""' } else { '' }) }
  & kubectl-podexit __complete @words 2>$null | Where-Object { $_ -notmatch '^:\d+$' } | ForEach-Object {
    $name, $about = $_ -split "${'`'}t", 2
    if (-not $about) { $about = $name }
    $text = if ($name -match '[^\w./:=+-]') { "'" + ($name -replace "'", "''") + "'" } else { $name }
    [System.Management.Automation.CompletionResult]::new($text, $name, 'ParameterValue', $about)
  }
}
`;

export const completionScripts: Record<(typeof shells)[number], string> = { bash, zsh, fish, powershell };

const examples = `Examples:
  source <(kubectl-podexit completion bash)
  kubectl-podexit completion fish | source
`;

export const addCompletion: AddCommand = (program, { stdout }) => {
  const about = `print the script for ${shells.join(', ')}`;
  newCommand(program, 'completion <shell>', about, examples).action((shell: string) =>
    stdout.write(completionScripts[oneOf(shell, shells, 'completion')]),
  );
};
