import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { podexit } from '../helpers/built.ts';
import { serving } from '../helpers/serving.ts';
import { servingPatiently } from '../helpers/serving-patiently.ts';
import { runMain } from './helpers/in-process.ts';

describe.concurrent('a recording of a live run', () => {
  it.each(['json', 'ndjson', 'lines'])('replays to the same bytes under -o %s', async (format) => {
    await serving('exit-143', {}, async ({ server, flags, folder }) => {
      const file = join(folder, 'run.ndjson');
      const live = await podexit([server.pod, ...flags, '-o', format, '--record', file]);
      const asLive = format === 'lines' ? ['--as-live'] : [];
      const replayed = await runMain(['replay', file, '-o', format, ...asLive]);
      expect(live.code).toBe(0);
      expect(replayed.stdout).toBe(live.stdout);
      expect(replayed.code).toBe(live.code);
    });
  });

  it('contains log text only with --logs', async () => {
    await serving('exit-143', {}, async ({ server, flags, folder }) => {
      const file = join(folder, 'run.ndjson');
      await podexit([server.pod, ...flags, '-o', 'json', '--record', file]);
      expect(readFileSync(file, 'utf8')).not.toContain('SIGTERM received');
    });
    await serving('exit-143', {}, async ({ server, flags, folder }) => {
      const file = join(folder, 'run.ndjson');
      const live = await podexit([server.pod, ...flags, '-o', 'lines', '--record', file, '--logs']);
      expect(readFileSync(file, 'utf8')).toContain('SIGTERM received');
      expect(live.stdout).toContain('SIGTERM received, draining');
      expect((await runMain(['replay', file, '-o', 'lines'])).stdout).toContain('SIGTERM received, draining');
    });
  });

  it('replays to the same report after a run that ended at --timeout', async () => {
    await servingPatiently('prestop-sleep', {}, async ({ server, flags, folder }) => {
      const file = join(folder, 'run.ndjson');
      const ran = await runMain([server.pod, ...flags, '-o', 'json', '--record', file, '--timeout', '2s']);
      expect(ran.code).toBe(3);
      const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
      expect(lines.length).toBeGreaterThan(5);
      lines.forEach((line) => expect(() => JSON.parse(line) as unknown).not.toThrow());
      expect((await runMain(['replay', file, '-o', 'json'])).stdout).toBe(ran.stdout);
    });
  });
});
