/** podexit asks once before it deletes a pod at a terminal, and does not ask without a terminal. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { serving } from '../helpers/serving.ts';
import { runMain } from './helpers/in-process.ts';

it('the question names context, namespace, pod, owner, grace period and the next step', () =>
  serving('graceful-exit', {}, async ({ flags, server }) => {
    const asked = await runMain([server.pod, ...flags], { answers: [''] });
    expect(asked.stderr.replace(/\n/g, ' ')).toMatch(
      /^Delete pod checkout-\S+ in namespace graceful-exit of context \S+\? Owner ReplicaSet\/checkout-\S+, grace period 10s \[y\/N\] /,
    );
    expect(asked).toMatchObject({ code: 0, stdout: '' });
    expect(server.deletesAccepted).toBe(0);
  }));

it('the question names the requested grace period', () =>
  serving('graceful-exit', {}, async ({ flags, server }) => {
    const asked = await runMain([server.pod, '--grace-period=3', ...flags], { answers: ['n'] });
    expect(asked.stderr).toContain('grace period 3s [y/N]');
  }));

it.each([[['--yes']], [['-y']], [['--dry-run=server']]])('no question is asked with %j', (more) =>
  serving('graceful-exit', {}, async ({ flags, server }) => {
    const ran = await runMain([server.pod, ...more, '--wait=false', ...flags], { answers: [] });
    expect(ran.stderr).not.toContain('[y/N]');
    expect(ran.code).toBe(0);
  }),
);

it('no question is asked if a config file disables it', () =>
  serving('graceful-exit', {}, async ({ flags, server, folder }) => {
    const file = join(folder, 'podexit.yaml');
    writeFileSync(file, 'confirm: false\n');
    const ran = await runMain([server.pod, '--wait=false', '--config', file, ...flags], { answers: [] });
    expect(ran.stderr).not.toContain('[y/N]');
    expect(server.deletesAccepted).toBe(1);
  }));

it('no question is asked without a terminal', () =>
  serving('graceful-exit', {}, async ({ flags, server }) => {
    expect((await runMain([server.pod, '--wait=false', ...flags])).stderr).not.toContain('[y/N]');
    expect(server.deletesAccepted).toBe(1);
  }));
