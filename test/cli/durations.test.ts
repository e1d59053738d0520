/** Durations are read as in Go, down to a nanosecond, although Node's timers have whole milliseconds. */
import { expect, it } from 'vitest';
import { serving } from '../helpers/serving.ts';
import { runMain } from './helpers/in-process.ts';

it.each(['1234.5ms', '2.5s', '1h0.5ms'])('--request-timeout %s is respected', (value) =>
  serving('graceful-exit', {}, async ({ server, flags }) => {
    const { code, stderr } = await runMain([server.pod, ...flags, '--request-timeout', value, '--dry-run=server']);
    expect(stderr).not.toContain('unexpected');
    expect(code).toBe(0);
  }),
);

it('--request-timeout 1ns fails before any answer', () =>
  serving('graceful-exit', {}, async ({ server, flags }) => {
    const { code, stderr } = await runMain([server.pod, ...flags, '--request-timeout', '1ns']);
    expect(stderr).toMatch(/^error: the server .* cannot be reached: no (?:connection|answer) within .*0\.001 s/);
    expect(code).toBe(1);
  }));

it.each(['1ns', '1.5ms'])('--timeout %s ends a run at once, without an unexpected error', (value) =>
  serving('graceful-exit', {}, async ({ server, flags }) => {
    const { code, stderr } = await runMain([server.pod, ...flags, '--timeout', value, '-o', 'name']);
    expect(stderr).not.toContain('unexpected');
    expect(stderr).toMatch(/could not be read within 0\.00[12] s\nNothing was deleted/);
    expect(code).toBe(1);
  }),
);

it.each(['--timeout', '--request-timeout', '--max-duration'])(
  '%s 99999h is refused, because no timer can be that long',
  async (flag) => {
    const { code, stderr } = await runMain(['web', flag, '99999h']);
    expect(stderr).toContain(`${flag}: "99999h" is too long\nAt most 576h (24 days)`);
    expect(code).toBe(1);
  },
);
