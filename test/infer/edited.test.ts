/**
 * Recordings of a real cluster with one change, each named after it: the run attaches after the exit and gets no Events; the
 * watch breaks and a list no longer has a pod that was deleted with --force; the exit is dated 2 s earlier, so that its hook
 * is reported to have failed after it.
 */
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import type { ExitReport } from '../../src/model/report.ts';
import { runMain } from '../cli/helpers/in-process.ts';

async function reportOf(name: string): Promise<ExitReport> {
  const file = fileURLToPath(new URL(`edited/${name}.ndjson`, import.meta.url));
  return JSON.parse((await runMain(['replay', file, '-o', 'json'])).stdout) as ExitReport;
}

it('is graceful if the container was first seen terminated, and ended after the deletion for certain', async () => {
  expect((await reportOf('attached-after-the-exit')).verdict).toMatchObject({ outcome: 'graceful', exitCode: 0 });
});

it('is forced if the answer to the DELETE was the removed pod, though no watch saw it go', async () => {
  expect((await reportOf('forced-and-listed-anew')).verdict).toMatchObject({ outcome: 'forced', exitCode: 2 });
});

it('claims no stop signal if a hook may have lasted until the end of its container', async () => {
  const { verdict, containers } = await reportOf('hook-failed-after-the-exit');
  expect(containers[0]?.stopSignal).toBeUndefined();
  expect(verdict.findings.map(({ code }) => code)).not.toContain('prestop-failed');
});
