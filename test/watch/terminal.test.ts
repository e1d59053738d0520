/** A watch at a terminal: a table that is kept up to date, and what stays when it ends. */
import { expect, it } from 'vitest';
import { allLines, screenOf, type Happening } from '../output/helpers/screen.ts';
import { playing, watchUntil } from './helpers/watching.ts';

it('shows the counts, the ready endpoints and the last exits, and leaves them with a summary', () =>
  playing('second/rollout-25', async ({ flags, server, pause }) => {
    const size = { columns: 120, rows: 24 };
    const happenings: Happening[] = [];
    const seen = async () => allLines(await screenOf(size, happenings)).join('\n');
    let text = '';
    const { code } = await watchUntil(flags, () => false, {
      columns: 120,
      onStdout: (text) =>
        happenings.push({ kind: 'write', text: text.replaceAll('\n', '\r\n').replaceAll('\r\r', '\r') }),
      until: server.played.then(async () => {
        while (!text.includes('25 exits · 0 terminating')) {
          await pause(2000);
          text = await seen();
        }
      }),
    });
    expect(code).toBe(0);
    expect(text).toMatch(/^namespace\/rollout-25 · 25 exits · 0 terminating · \d/m);
    expect(text).toMatch(/^ +SERVICE +READY\n +rollout-25\/checkout +\d+$/m);
    expect(text).toMatch(/^LAST EXITS$/m);
    expect(text.match(/\d {2}rollout-25\/checkout-\S+ {2}✔ Graceful/g)).toHaveLength(10);
    expect(await seen()).toMatch(/✔ Graceful[^]*\n\n25 exits of 1 workload: 25 graceful$/);
  }));
