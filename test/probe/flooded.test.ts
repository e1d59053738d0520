/** The built command against a target that sends without end. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { podexit } from '../helpers/built.ts';
import { serving } from '../helpers/serving.ts';
import { counting } from './helpers/counting.ts';

const script = fileURLToPath(new URL('./helpers/hostile-server.mjs', import.meta.url));

it('delays no DELETE if a target floods it', async () => {
  const child = fork(script, ['sends chunks of one byte without end']);
  // Also if the test fails: a child that is left keeps vitest from exiting.
  onTestFinished(() => void child.kill());
  const [flooding] = (await once(child, 'message')) as [number];
  const calm = await counting((_, answer) => answer.end());
  const untilDelete = (port: number): Promise<number> =>
    serving('exit-143', {}, async ({ server, flags }) => {
      await podexit([server.pod, ...flags, '--probe', `http://127.0.0.1:${port}/`, '--probe-rate', '100']);
      const [first] = server.requests;
      const deleted = server.requests.find(({ verb }) => verb === 'delete');
      return (deleted?.at ?? Infinity) - (first?.at ?? 0);
    });
  // Any target must answer for a second first; a busy machine delays both.
  const inCalm = await untilDelete(calm.port);
  expect(await untilDelete(flooding)).toBeLessThan(2 * inCalm + 1000);
  await calm.close();
});
