/** Another client forces the deletion: once every log has ended normally, there is nothing left to wait for. */
import { expect, it } from 'vitest';
import { serving } from '../helpers/serving.ts';
import { runMain } from './helpers/in-process.ts';

/** Seconds from the DELETE to the end of the container's log in the recording. */
const logsEndAfter = 8.35;
/** Seconds. */
const gracePeriod = 20;

it('ends soon after the logs end, not at the end of the grace period', () =>
  serving('second/forced-by-other', {}, async ({ server, flags }) => {
    const began = performance.now();
    const ran = await runMain([server.pod, '-o', 'json', ...flags]);
    const took = (performance.now() - began) / 1000;
    expect(JSON.parse(ran.stdout)).toMatchObject({ verdict: { outcome: 'forced', exitCode: 2 } });
    expect(took).toBeGreaterThan(logsEndAfter);
    expect(took).toBeLessThan(gracePeriod);
  }));
