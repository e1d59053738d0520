import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';

/** A port that is reserved for one server, also while it does not listen. */
interface KeptPort {
  readonly port: number;
  /** May be called more than once. */
  release(): Promise<void>;
}

/** Below the ephemeral ports, which start at 32768 (Linux) or 49152 (RFC 6335, §6). */
const reservedRange = { from: 10_000, to: 30_000 };
/** Any of the ports may be taken. */
const maxTries = 20;

/**
 * Reserves a port outside the ephemeral range on which a TCP server can listen now. The UDP port with the same number is
 * the lock: it excludes all other processes of the machine, even while nobody listens on the TCP port, and is released
 * when its process ends.
 */
export async function keepFreePort(): Promise<KeptPort> {
  const { from, to } = reservedRange;
  for (let left = maxTries; left > 0; left -= 1) {
    const kept = await lockPort(from + Math.floor(Math.random() * (to - from)));
    if (kept && (await canListen(kept.port))) return kept;
    await kept?.release();
  }
  throw new Error(`no free port was found from ${from} to ${to}, in ${maxTries} tries`);
}

function canListen(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(false);
      else reject(error);
    });
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** Undefined if another process has the port. */
function lockPort(port: number): Promise<KeptPort | undefined> {
  const lock = createSocket('udp4');
  let isHeld = true;
  const released = new Promise<void>((resolve) => lock.once('close', resolve));
  const release = () => {
    if (isHeld) lock.close();
    isHeld = false;
    return released;
  };
  return new Promise((resolve, reject) => {
    lock.once('error', (error: NodeJS.ErrnoException) => {
      void release();
      if (error.code === 'EADDRINUSE') resolve(undefined);
      else reject(error);
    });
    lock.bind({ port, address: '127.0.0.1', exclusive: true }, () => resolve({ port, release }));
  });
}
