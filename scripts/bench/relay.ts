/** A relay in front of a server. It records when it forwards data of the server, which then arrives at the program. */
import type { Proxy } from './proxy.ts';
import { startProxy } from './proxy.ts';

export interface Relay extends Proxy {
  /** What was forwarded, in order. */
  readonly passed: readonly Passed[];
}

/** `at`: of `monotonic`, ms. */
export interface Passed {
  bytes: Buffer;
  at: number;
}

/** ms, on the clock that all processes of the machine share. */
export const monotonic = (): number => Number(process.hrtime.bigint()) / 1e6;

export async function startRelay(target: number): Promise<Relay> {
  const passed: Passed[] = [];
  const proxy = await startProxy(target, (near, reach) => {
    const far = reach();
    far.on('data', (bytes: Buffer) => {
      // Before the write, because the program may run at once.
      passed.push({ bytes, at: monotonic() });
      near.write(bytes);
    });
    near.on('data', (bytes: Buffer) => far.write(bytes));
    near.on('end', () => far.end());
    far.on('end', () => near.end());
    for (const socket of [near, far]) socket.on('close', () => [near, far].forEach((one) => one.destroy()));
  });
  return { ...proxy, passed };
}
