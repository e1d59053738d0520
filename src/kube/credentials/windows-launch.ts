/**
 * Starts a credential plugin on Windows. Like kubectl, it looks the command up in PATH, with the extensions of PATHEXT.
 * Node starts .cmd and .bat files (as npm and gcloud install) only with a shell, and does not quote arguments for it.
 * So these files run in cmd.exe, with each argument quoted for it. Pure: `exists` looks files up.
 */
import { win32 } from 'node:path';
import { PodexitError } from '../../errors.ts';
import type { Variables } from '../env.ts';

interface WindowsEnv {
  readonly variables: Variables;
  exists(file: string): boolean;
}

/** `verbatim`: the arguments are quoted already. Throws PodexitError `auth.exec-failed` for one that no batch file takes. */
export function windowsLaunch(command: string, args: readonly string[], env: WindowsEnv) {
  const file = findInPath(command, env) ?? command;
  if (!/\.(cmd|bat)$/i.test(file)) return { file, args, verbatim: false };
  const line = [file, ...args].map((word) => quotedForCmd(word, win32.basename(file))).join(' ');
  return {
    file: env.variables['ComSpec'] ?? env.variables['COMSPEC'] ?? 'cmd.exe',
    // No AutoRun commands (/d), no `!VAR!` (/v:off); /s removes the outer quotes.
    args: ['/d', '/e:on', '/v:off', '/s', '/c', `"${line}"`],
    verbatim: true,
  };
}

/** Does not search the current directory unless PATH lists it; kubectl refuses that too. */
function findInPath(command: string, { variables, exists }: WindowsEnv): string | undefined {
  const folders = /[\\/:]/.test(command)
    ? ['']
    : (variables['PATH'] ?? variables['Path'] ?? '').split(';').filter(Boolean);
  const endings = (variables['PATHEXT'] ?? '.COM;.EXE;.BAT;.CMD').toLowerCase().split(';').filter(Boolean);
  const own = endings.includes(win32.extname(command).toLowerCase()) ? [''] : [];
  return folders
    .flatMap((folder) => [...own, ...endings].map((ending) => win32.join(folder, command + ending)))
    .find(exists);
}

/**
 * Quotes one argument for a batch file. Inside quotes only `"` and `%` are special to cmd.exe. A quote is doubled. Each
 * percent sign is followed by an empty variable (`%cd:~,%`), so that no text between two of them is read as a variable
 * name. Backslashes before a quote are doubled for the program that finally splits the line.
 */
function quotedForCmd(word: string, plugin: string): string {
  if (/[\r\n\0]/.test(word))
    throw new PodexitError(
      'auth.exec-failed',
      `the credential plugin "${plugin}" cannot be started: an argument contains a line break, which .cmd and .bat files do not support`,
      'Name its .exe in the kubeconfig under users[].user.exec, or leave the line break out.',
    );
  const safe = word
    .replace(/(\\*)"/g, '$1$1""')
    .replace(/(\\+)$/, '$1$1')
    .replace(/%/g, '%%cd:~,%');
  return `"${safe}"`;
}
