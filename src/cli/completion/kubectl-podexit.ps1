# PowerShell completion for kubectl-podexit
# kubectl-podexit completion powershell | Out-String | Invoke-Expression
# PowerShell before 7.3, or in Legacy mode, drops an empty argument unless it is written "". A word typed in quotes is
# passed without them; a name that PowerShell would split comes back in quotes.
Register-ArgumentCompleter -Native -CommandName 'kubectl-podexit', 'kubectl-podexit.exe' -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @($commandAst.CommandElements | Select-Object -Skip 1 | ForEach-Object {
    if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value } else { $_.Extent.Text }
  })
  $drops = $PSVersionTable.PSVersion -lt [version]'7.3.0' -or $PSNativeCommandArgumentPassing -eq 'Legacy'
  if ($wordToComplete -eq '') { $words += $(if ($drops) { '""' } else { '' }) }
  & kubectl-podexit __complete @words 2>$null | Where-Object { $_ -notmatch '^:\d+$' } | ForEach-Object {
    $name, $about = $_ -split "`t", 2
    if (-not $about) { $about = $name }
    $text = if ($name -match '[^\w./:=+-]') { "'" + ($name -replace "'", "''") + "'" } else { $name }
    [System.Management.Automation.CompletionResult]::new($text, $name, 'ParameterValue', $about)
  }
}
