/** Completion: what it offers at each position, and how shells show it. Names from the cluster arrive within a second. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { completionScripts, shells } from '../../src/cli/complete.ts';
import { gateCodes } from '../../src/verdict/policy.ts';
import { bin } from '../helpers/built.ts';
import { serving } from '../helpers/serving.ts';
import { runMain } from './helpers/in-process.ts';

/** No time passes on it: a name is offered, however late it arrives. */
const clock = { now: () => 0, setTimeout: () => () => {} };

async function offered(...words: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await runMain(['__complete', ...words], { clock });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout.trimEnd().split('\n');
}

it('contexts of the kubeconfig in the environment are offered', () =>
  serving('graceful-exit', {}, async ({ flags }) => {
    const env = { KUBECONFIG: flags.at(-1) ?? '' };
    expect((await runMain(['__complete', '--context', ''], { env, clock })).stdout).toBe('loopback\n:4\n');
  }));

describe('words that need no cluster', () => {
  it('every code that --fail-on accepts', async () => {
    expect((await offered('x', '--fail-on', '')).slice(0, -1)).toEqual(gateCodes);
  });

  it('files for every flag that takes one, as "--flag file" and as "--flag=file"', async () => {
    const { stdout } = await runMain(['options']);
    const flags = [...stdout.matchAll(/(--[\w-]+) <(?:file|folder)>/g)].map(([, flag]) => flag ?? '');
    expect(flags).toEqual(expect.arrayContaining(['--record', '--report', '--config', '--kubeconfig', '--cache-dir']));
    for (const flag of [...flags, '--write-kubeconfig']) {
      const command = flag === '--write-kubeconfig' ? ['demo'] : [];
      expect(await offered(...command, flag, ''), flag).toEqual([':0']);
      expect(await offered(...command, `${flag}=./`), flag).toEqual([':0']);
    }
  });
});

it.each(['check', 'why', 'fix', 'compare', 'recommend', 'signals', 'try'])(
  '%s accepts each format that it offers',
  async (verb) => {
    for (const format of (await offered(verb, '-o', '')).slice(0, -1))
      expect((await runMain([verb, '-o', format, '--nosuch'])).stderr).toMatch(/nosuch/);
  },
);

it('a cluster that does not answer delays completion only briefly, and no names are offered', async () => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1');
  await new Promise((resolve) => silent.once('listening', resolve));
  const began = performance.now();
  const server = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const { stdout } = await runMain(['__complete', '-s', server, 'check']);
  expect(stdout).toMatch(/:4\n$/);
  expect(stdout).not.toContain('754699c75f');
  // A request has 30 s.
  expect(performance.now() - began).toBeLessThan(15_000);
  silent.close();
});

describe('scripts', () => {
  it.each(shells)('%s is printed, and passes its arguments to __complete', async (shell) => {
    const { code, stdout } = await runMain(['completion', shell]);
    expect(code).toBe(0);
    expect(stdout).toBe(completionScripts[shell]);
    expect(stdout).toMatch(/kubectl-podexit __complete|__complete "\$/);
  });

  it.for([
    ['fish', 'kubectl-podexit completion fish | source; complete -C "kubectl-podexit demo kubelet"'],
    [
      'zsh',
      'source <(kubectl-podexit completion zsh); words=(kubectl-podexit demo kubelet) CURRENT=3; _describe() { print -l -- "${(@)candidates}" }; _kubectl_podexit',
    ],
  ] as const)('%s offers the answer of __complete, with the descriptions', ([shell, script], { skip }) => {
    const PATH = `${dirname(bin)}:${process.env['PATH']}`;
    const ran = spawnSync(shell, ['-c', script], { encoding: 'utf8', env: { PATH, HOME: tmpdir() } });
    if (ran.error) skip(`there is no ${shell}`);
    expect(ran.stdout).toMatch(/^kubelet-restart[\t:]\S.* /);
  });

  it.for([
    [
      'bash',
      'compopt() { echo "files $*"; }; COMP_LINE="$typed" COMP_POINT=${#typed}; _kubectl_podexit',
      'files -o default',
    ],
    [
      'zsh',
      'words=(${=typed}) CURRENT=3; compset() { print -- "without $2" }; _files() { print files }; _kubectl_podexit',
      'without *=\nfiles',
    ],
    ['fish', 'complete -C "$typed"', '--report=exit.html'],
  ] as const)('%s completes files by itself if a flag takes one', ([shell, script, expected], { skip }) => {
    const folder = mkdtempSync(join(tmpdir(), 'podexit-'));
    writeFileSync(join(folder, 'exit.html'), '');
    const load =
      shell === 'fish' ? `kubectl-podexit completion fish | source` : `. <(kubectl-podexit completion ${shell})`;
    const ran = spawnSync(shell, ['-c', `${load}; ${script}`], {
      encoding: 'utf8',
      cwd: folder,
      env: { PATH: `${dirname(bin)}:${process.env['PATH']}`, HOME: folder, typed: 'kubectl-podexit web --report=ex' },
    });
    if (ran.error) skip(`there is no ${shell}`);
    expect(ran.stdout).toBe(`${expected}\n`);
  });

  it('powershell completes both names of the command, and quotes names that need it', () => {
    const script = completionScripts.powershell;
    const [, names = ''] = /^Register-ArgumentCompleter -Native -CommandName (.*) -ScriptBlock \{$/m.exec(script) ?? [];
    expect(names.split(', ')).toEqual(["'kubectl-podexit'", "'kubectl-podexit.exe'"]);
    const [, pattern = ''] = /\$name -match '([^']+)'/.exec(script) ?? [];
    const needsQuotes = (name: string): boolean => new RegExp(pattern).test(name);
    expect(['my cluster', "it's", '$home', 'a;b', 'a,b', '(x)', '@all'].filter((name) => !needsQuotes(name))).toEqual(
      [],
    );
    expect(['deploy/checkout', '--pick=oldest', 'arn:aws:eks', 'web-0'].filter(needsQuotes)).toEqual([]);
    expect(script).toContain(`"'" + ($name -replace "'", "''") + "'"`);
  });

  it('powershell offers what __complete prints', ({ skip }) => {
    const script = `${completionScripts.powershell}; (TabExpansion2 'kubectl-podexit demo kubelet' 28).CompletionMatches.ListItemText`;
    const PATH = `${dirname(bin)}:${process.env['PATH']}`;
    const ran = spawnSync('pwsh', ['-NoProfile', '-Command', script], {
      encoding: 'utf8',
      env: { PATH, HOME: tmpdir() },
    });
    if (ran.error) skip('there is no pwsh');
    expect(ran.stdout).toMatch(/^kubelet-restart$/m);
  });

  it('bash completes a flag after "=", where it splits words', () => {
    const folder = mkdtempSync(join(tmpdir(), 'podexit-'));
    const script = join(folder, 'script');
    writeFileSync(join(folder, 'kubectl-podexit'), '#!/bin/sh\nprintf "%s\\n" --pick=oldest --pick=newest :4\n', {
      mode: 0o755,
    });
    writeFileSync(script, completionScripts.bash);
    const typed = 'kubectl-podexit web --pick=';
    const ran = spawnSync(
      'bash',
      ['-c', `. ${script}; COMP_LINE='${typed}' COMP_POINT=${typed.length}; _kubectl_podexit; echo "\${COMPREPLY[@]}"`],
      { encoding: 'utf8', env: { PATH: `${folder}:${process.env['PATH']}` } },
    );
    expect(ran.stdout).toBe('oldest newest\n');
  });
});
