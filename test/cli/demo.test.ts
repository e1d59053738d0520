/** `demo`: runs the same command as a user would, on a cluster inside the program. */
import { describe, expect, it } from 'vitest';
import { scenariosToTry } from '../../src/cli/demo.ts';
import { shippedScenarios } from '../../src/demo/scenarios.ts';
import type { ExitReport } from '../../src/model/report.ts';
import { podexit } from '../helpers/built.ts';
import { runMain, pressOnce } from './helpers/in-process.ts';

describe.concurrent('demo', () => {
  it('prints the command that it runs, with the given flags, and its output', async () => {
    const ran = await podexit([
      'demo',
      'exit-143',
      '-o',
      'json',
      '--max-duration=1ms',
      '--timestamps=utc',
      '--no-logs',
    ]);
    expect(ran.stderr).toContain('$ kubectl podexit api-0 -n exit-143');
    for (const word of ['--output=json', '--max-duration=1ms', '--timestamps=utc', '--no-logs'])
      expect(ran.stderr).toContain(word);
    const { verdict } = JSON.parse(ran.stdout) as ExitReport;
    expect(verdict.outcome).toBe('graceful');
    expect(verdict.gates).toMatchObject([{ name: 'max-duration', passed: false }]);
    expect(ran.code).toBe(5);
  });

  it('prints after an interrupt that its cluster has ended', async () => {
    let printed = '';
    const ran = await runMain(['demo', 'sigkill-after-grace', '-o', 'lines'], {
      onStdout: (text) => void (printed += text),
      onSignal: pressOnce(() => printed.includes('deletionTimestamp')),
    });
    expect(ran.code).toBe(130);
    expect(ran.stderr).toMatch(
      /SIGINT: pod "\S+" is still terminating\n[\s\S]*The cluster of this demo has ended as well: there is no pod to look for\.\n$/,
    );
    expect(ran.stdout).not.toMatch(/^ +next /m);
  });

  it('suggests after each scenario only commands that run: only the format is refused', async () => {
    const suggested = new Set(
      shippedScenarios.flatMap((one) => [...scenariosToTry(one), ...scenariosToTry(one, true)]),
    );
    expect(suggested.size).toBeGreaterThan(shippedScenarios.length);
    for (const words of suggested) {
      const ran = await runMain(['demo', ...words.split(' '), '-o', 'nothing']);
      expect(ran.stderr, words).toMatch(/^error: .*nothing/m);
    }
  });
});
