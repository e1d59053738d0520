/** The tests of counts, with every core of the machine busy. */
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { afterAll, beforeAll } from 'vitest';
import './counts.test.ts';
import './http2.test.ts';

let burning: ReturnType<typeof spawn>[] = [];
beforeAll(() => {
  burning = Array.from({ length: availableParallelism() }, () => spawn(process.execPath, ['-e', 'for (;;);']));
});
afterAll(() => burning.forEach((one) => one.kill('SIGKILL')));
