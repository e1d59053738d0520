/**
 * How a credential plugin is started on Windows. Its kubeconfig names it as kubectl finds it: in PATH, with one of the
 * endings of PATHEXT. Node starts no .cmd or .bat (npm and gcloud bring such) without a shell, and does not quote for
 * one, so these go through cmd.exe with every argument quoted for it. Pure: `exists` is asked for files.
 */
import { win32 } from 'node:path';
import { PodexitError } from '../../errors.ts';
import type { Variables } from '../env.ts';

export interface Launch {
  readonly file: string;
  readonly args: readonly string[];
  /** The arguments are quoted already. */
  readonly verbatim: boolean;
}

export interface WindowsPlaces {
  readonly variables: Variables;
  exists(file: string): boolean;
}

/** Throws PodexitError `auth.exec-failed` for an argument that a batch file cannot be given. */
export function windowsLaunch(command: string, args: readonly string[], places: WindowsPlaces): Launch {
  const file = found(command, places) ?? command;
  if (!/\.(cmd|bat)$/i.test(file)) return { file, args, verbatim: false };
  const line = [file, ...args].map((word) => quoted(word, win32.basename(file))).join(' ');
  return {
    file: places.variables['ComSpec'] ?? places.variables['COMSPEC'] ?? 'cmd.exe',
    // No autorun, no `!VAR!`; the quotes around the whole are taken off by /s.
    args: ['/d', '/e:on', '/v:off', '/s', '/c', `"${line}"`],
    verbatim: true,
  };
}

/** Never in the current directory, where PATH does not name it: kubectl refuses that too. */
function found(command: string, { variables, exists }: WindowsPlaces): string | undefined {
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
 * One argument for a batch file. In quotes only `"` and `%` mean something to cmd.exe: a quote is doubled, and before a
 * percent sign stands a variable that is empty (`%cd:~,%`), so that no name between two of them is looked up.
 * Backslashes before a quote are doubled for the program that splits the line in the end.
 */
function quoted(word: string, plugin: string): string {
  if (/[\r\n\0]/.test(word))
    throw new PodexitError(
      'auth.exec-failed',
      `the credential plugin "${plugin}" cannot be started: an argument holds a line break, which no .cmd or .bat takes`,
      'Name its .exe in the kubeconfig under users[].user.exec, or leave the line break out.',
    );
  const safe = word
    .replace(/(\\*)"/g, '$1$1""')
    .replace(/(\\+)$/, '$1$1')
    .replace(/%/g, '%%cd:~,%');
  return `"${safe}"`;
}
