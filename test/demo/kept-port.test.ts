import { createServer } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { keepFreePort, keepPort } from '../sim/faults/kept-port.ts';

afterEach(() => void vi.restoreAllMocks());

/** Makes Math.random return `shares` first, then 0.75. */
function drawnFirst(...shares: number[]): void {
  const draw = vi.spyOn(Math, 'random').mockReturnValue(0.75);
  for (const share of shares) draw.mockReturnValueOnce(share);
}

describe('the port of a server that goes down and comes back', () => {
  it('is not given to another server of this kind, even while the server is down', async () => {
    drawnFirst(0.5, 0.5);
    const first = await keepFreePort();
    const second = await keepFreePort();
    expect(second.port).not.toBe(first.port);
    await Promise.all([first.release(), second.release()]);
  });

  it('may be given to another server after its release', async () => {
    drawnFirst(0.5, 0.5);
    const first = await keepFreePort();
    await first.release();
    const second = await keepFreePort();
    expect(second.port).toBe(first.port);
    await second.release();
  });

  it('is another one if a process already listens on it', async () => {
    const other = createServer();
    const taken = 10_000 + 20_000 * 0.6;
    await new Promise<void>((resolve) => other.listen(taken, '127.0.0.1', resolve));
    drawnFirst(0.6);
    const kept = await keepFreePort();
    expect(kept.port).not.toBe(taken);
    await kept.release();
    await new Promise((resolve) => other.close(resolve));
  });
});

it('a port is released if the server fails to start for another reason', async () => {
  drawnFirst(0.5, 0.5);
  const { port, release } = await keepPort(() => Promise.resolve(true));
  await release();
  drawnFirst(0.5, 0.5);
  await expect(keepPort(() => Promise.reject(new Error('EACCES')))).rejects.toThrow('EACCES');
  const next = await keepPort(() => Promise.resolve(true));
  expect(next.port).toBe(port);
  await next.release();
});

it('fails on a machine without a free port', async () => {
  await expect(keepPort(() => Promise.resolve(false))).rejects.toThrow('no free port was found from 10000 to 30000');
});
