/** A relay before a server that notes when it handed on what the server said: when it arrived at whoever listens behind it. */
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

export interface Relay {
  port: number;
  /** What was handed on, in order. */
  readonly passed: readonly Passed[];
  close(): Promise<void>;
}

/** `at`: of performance.now(), ms. */
export interface Passed {
  bytes: Buffer;
  at: number;
}

export async function startRelay(target: number): Promise<Relay> {
  const sockets = new Set<Socket>();
  const passed: Passed[] = [];
  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1');
    for (const socket of [near, far]) {
      sockets.add(socket.setNoDelay(true));
      socket.on('error', () => {});
      socket.on('close', () => [near, far].forEach((one) => one.destroy()));
    }
    near.on('data', (bytes: Buffer) => far.write(bytes));
    far.on('data', (bytes: Buffer) => {
      // Before it is written: whoever listens may run at once.
      passed.push({ bytes, at: performance.now() });
      near.write(bytes);
    });
    near.on('end', () => far.end());
    far.on('end', () => near.end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    passed,
    close: () =>
      new Promise((resolve) => {
        sockets.forEach((socket) => socket.destroy());
        server.close(() => resolve());
      }),
  };
}
