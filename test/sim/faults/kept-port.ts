import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';

/** A port that is this server's alone, also while it does not listen. */
export interface KeptPort {
  readonly port: number;
  /** Once or more often. */
  release(): Promise<void>;
}

/** A request for any port gets one from 32768 on (Linux) or 49152 on (RFC 6335, §6). */
const outsideEphemeral = { from: 10_000, to: 30_000 };
/** Each may be taken. */
const tries = 20;

/**
 * Keeps a port outside the range from which others are given theirs, and that no other server keeps. What keeps it is
 * the UDP port of the same number: its owner holds it whether or not anybody listens at the TCP port, in every process
 * of the machine, and loses it with its process. `isFree` says whether the TCP port can be had; rejects where none was.
 */
export async function keepPort(isFree: (port: number) => Promise<boolean>): Promise<KeptPort> {
  const { from, to } = outsideEphemeral;
  for (let left = tries; left > 0; left -= 1) {
    const kept = await held(from + Math.floor(Math.random() * (to - from)));
    if (kept === undefined) continue;
    try {
      if (await isFree(kept.port)) return kept;
    } catch (error) {
      await kept.release();
      throw error;
    }
    await kept.release();
  }
  throw new Error(`no free port was found from ${from} to ${to}, in ${tries} tries`);
}

/** One at which a TCP server can listen now. */
export function keepFreePort(): Promise<KeptPort> {
  return keepPort(canListen);
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

/** Nothing where another one has it. */
function held(port: number): Promise<KeptPort | undefined> {
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
