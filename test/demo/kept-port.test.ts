import { createServer } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { keepPort } from '../../src/demo/http/kept-port.ts';
import { listen } from '../../src/demo/http/server.ts';

afterEach(() => void vi.restoreAllMocks());

/** The first port is drawn first, however often it is asked for, the others after it. */
function drawnFirst(...shares: number[]): void {
  const draw = vi.spyOn(Math, 'random').mockReturnValue(0.75);
  for (const share of shares) draw.mockReturnValueOnce(share);
}

const handle = () => Promise.resolve();

describe('a server that goes down and comes back', () => {
  it('keeps its port from others of its kind while it is down', async () => {
    drawnFirst(0.5, 0.5);
    const first = await listen(handle, 'to-come-back', undefined);
    await first.suspend();
    const second = await listen(handle, 'to-come-back', undefined);
    expect(second.port).not.toBe(first.port);
    await first.resume();
    await Promise.all([first.close(), second.close()]);
  });

  it('leaves its port to others when it is closed', async () => {
    drawnFirst(0.5, 0.5);
    const first = await listen(handle, 'to-come-back', undefined);
    await first.close();
    const second = await listen(handle, 'to-come-back', undefined);
    expect(second.port).toBe(first.port);
    await second.close();
  });

  it('takes another port where somebody listens already', async () => {
    const other = createServer();
    const taken = 10_000 + 20_000 * 0.6;
    await new Promise<void>((resolve) => other.listen(taken, '127.0.0.1', resolve));
    drawnFirst(0.6);
    const server = await listen(handle, 'to-come-back', undefined);
    expect(server.port).not.toBe(taken);
    await server.close();
    await new Promise((resolve) => other.close(resolve));
  });
});

it('a port is not kept where the server failed to start for another reason', async () => {
  drawnFirst(0.5, 0.5);
  const { port, release } = await keepPort(() => Promise.resolve(true));
  await release();
  drawnFirst(0.5, 0.5);
  await expect(keepPort(() => Promise.reject(new Error('EACCES')))).rejects.toThrow('EACCES');
  const next = await keepPort(() => Promise.resolve(true));
  expect(next.port).toBe(port);
  await next.release();
});

it('a machine without a free port is told of', async () => {
  await expect(keepPort(() => Promise.resolve(false))).rejects.toThrow('no free port was found from 10000 to 30000');
});
