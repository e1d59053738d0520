/** Clients that make their own connections: one for each request, or one that is kept; of TCP, the connection is all. */
import { connect, isIP, type Socket, type LookupFunction } from 'node:net';
import { connect as secureConnect } from 'node:tls';
import type { ProbeConnection } from '../model/probe-observation.ts';
import {
  type Cancel,
  type Connection,
  type Judge,
  type OutgoingRequest,
  type ProbeClient,
  type Settle,
  noKeptConnection,
} from './client.ts';
import { closedEarly, resultOfError, failed, succeeded, type Result } from './result.ts';
import { lookup } from 'node:dns';
import type { TcpTarget } from './target.ts';

interface Speaker {
  address: Address;
  request: OutgoingRequest;
  judge: Judge;
  /** Speaks the negotiated protocol on an open connection. Only a kept connection has `resend` (see http2.ts). */
  speak(socket: Socket, protocol: string | false, resend?: (settle: Settle) => Cancel): Connection;
}

/** ms; a server may be closing a connection that is idle for longer, and then a request on it fails without a cause. */
const maxIdleMs = 1000;

export function createConnectingClient(speaker: Speaker): ProbeClient {
  let kept: Connection | undefined;
  let lastKept: ProbeConnection = 'new';
  let isKeptBusy = false;
  let idleSince = -Infinity;
  let resent = 0;
  const askOnce = (settle: Settle): Cancel => connectAndAsk(speaker, settle, (connection) => connection.close());
  const resend = (settle: Settle): Cancel => {
    resent += 1;
    lastKept = 'new';
    return askOnce(settle);
  };

  function askKept(settle: Settle): Cancel {
    isKeptBusy = true;
    const settled: Settle = (result, answeredAt) => {
      isKeptBusy = false;
      idleSince = performance.now();
      settle(result, answeredAt);
    };
    const start = (): Cancel => {
      if (kept?.isUsable && performance.now() - idleSince < maxIdleMs) {
        lastKept = 'kept';
        return ask(speaker, kept, settled);
      }
      kept?.close();
      kept = undefined;
      lastKept = 'new';
      return connectAndAsk(speaker, settled, (connection) => (kept = connection), resend);
    };
    // What this machine has received is read first: the server may have closed the connection.
    const reading = setImmediate(() => (cancel = start()));
    let cancel: Cancel = () => void clearImmediate(reading);
    return () => {
      isKeptBusy = false;
      kept = undefined;
      return cancel();
    };
  }

  return {
    get isKeptFree() {
      return !isKeptBusy;
    },
    get lastKept() {
      return lastKept;
    },
    get resent() {
      return resent;
    },
    send: (connection, settle) => (connection === 'kept' ? askKept(settle) : askOnce(settle)),
    forgetKept() {
      if (isKeptBusy) return;
      kept?.close();
      kept = undefined;
    },
    close: () => kept?.close(),
  };
}

/** Connects, sends the request, and passes the connection to `then` when the request is settled. */
function connectAndAsk(
  speaker: Speaker,
  settle: Settle,
  then: (made: Connection) => void,
  resend?: (settle: Settle) => Cancel,
): Cancel {
  let cancel: Cancel = openConnection(
    speaker.address,
    (socket, protocol) => {
      const connection = speaker.speak(socket, protocol, resend);
      cancel = ask(speaker, connection, (result, answeredAt) => {
        settle(result, answeredAt);
        then(connection);
      });
    },
    (error) => settle(resultOfError(error)),
  );
  return () => cancel();
}

/** Node refuses some headers only when the protocol is known. */
function ask(speaker: Speaker, connection: Connection, settle: Settle): Cancel {
  try {
    return connection.exchange(speaker.request, speaker.judge, settle);
  } catch (error) {
    settle(resultOfError(error as NodeJS.ErrnoException));
    return () => undefined;
  }
}

interface Address {
  host: string;
  port: number;
  tls?: { ca?: string; insecure: boolean; protocols: string[] };
}

/** Calls `connected` or `failed` once, neither after a cancel. Then the caller handles the errors of the socket. */
function openConnection(
  { host, port, tls }: Address,
  connected: (socket: Socket, protocol: string | false) => void,
  failed: (error: NodeJS.ErrnoException) => void,
): Cancel {
  const { lookup, cancel } = newLookup();
  const socket = tls
    ? secureConnect({
        host,
        port,
        lookup,
        servername: isIP(host) === 0 ? host : undefined,
        ca: tls.ca,
        rejectUnauthorized: !tls.insecure,
        ALPNProtocols: tls.protocols,
      })
    : connect({ host, port, lookup });
  socket.setNoDelay(true);
  let isDone = false;
  let isResolving = isIP(host) === 0;
  const settle = (work: () => void): void => {
    if (isDone) return;
    isDone = true;
    work();
  };
  const fail = (error: NodeJS.ErrnoException): void => settle(() => failed(error));
  // Never removed: a late error must not crash the process.
  socket.on('error', fail);
  socket.once('lookup', () => (isResolving = false));
  socket.once('close', () => fail(closedEarly()));
  socket.once(tls ? 'secureConnect' : 'connect', () =>
    settle(() => connected(socket, 'alpnProtocol' in socket ? (socket.alpnProtocol as string | false) : false)),
  );
  return () => {
    isDone = true;
    socket.destroy();
    if (!isResolving) return undefined;
    return cancel() ? 'dns' : 'lookup-waits';
  };
}

/** Node looks up names in half of its four threads (libuv, threadpool.c: slow work). */
const maxOpen = 2;

/**
 * Returns a function that makes the lookup of one connection; at most as many are open as Node can make at once. A lookup
 * cannot be cancelled, and one that waits seconds for a silent name server would delay those of later requests, even when
 * names resolve again. So the later ones wait here.
 */
export function createLookups(look: LookupFunction = lookup) {
  let open = 0;
  const waiting = new Set<() => void>();
  const beginSome = (): void => {
    for (const begin of waiting) {
      if (open >= maxOpen) return;
      waiting.delete(begin);
      begin();
    }
  };
  return () => {
    let hasBegun = false;
    let begin = (): void => undefined;
    const whenFree: LookupFunction = (host, options, callback) => {
      begin = () => {
        hasBegun = true;
        open += 1;
        look(host, options, (...answer) => {
          open -= 1;
          beginSome();
          callback(...answer);
        });
      };
      waiting.add(begin);
      beginSome();
    };
    return {
      lookup: whenFree,
      /** Returns whether a name server was asked. */
      cancel(): boolean {
        waiting.delete(begin);
        return hasBegun;
      },
    };
  };
}

/** For all probes of this process. */
const newLookup = createLookups();

/** A balancer without a backend accepts and closes at once. A target that sends, or is silent this long, is alive. */
const aliveAfterMs = 50;

/** The end was read too late to judge: a server that is alive may also close a silent connection after a while. */
const closedTooLate: Result = { kind: 'not-measured', reason: 'standstill', said: 'accepted and closed' };

/** Probes a target by connecting to it: does anything accept? */
export function createTcpClient({ host, port }: TcpTarget): ProbeClient {
  return {
    ...noKeptConnection,
    send(_connection, settle) {
      let timer: NodeJS.Timeout | undefined;
      let end = (): void => undefined;
      let connectedAt: number | undefined;
      const isLate = (): boolean => performance.now() - (connectedAt ?? Infinity) > 2 * aliveAfterMs;
      const finish = (result: Result): void => {
        clearTimeout(timer);
        settle(result, connectedAt);
        end();
      };
      const cancel = openConnection(
        { host, port },
        (socket) => {
          // Reset instead of closed: thousands of closed sockets would stay in TIME_WAIT on this machine.
          end = () => void socket.resetAndDestroy();
          connectedAt = performance.now();
          socket.once('data', () => finish(succeeded('connected')));
          socket.once('error', (error) => finish(resultOfError(error)));
          socket.once('end', () => finish(isLate() ? closedTooLate : failed('reset', 'accepted and closed at once')));
          const accept = (): void => finish(succeeded('connected'));
          // If this process did not run meanwhile, first read what came.
          timer = setTimeout(() => (isLate() ? (timer = setTimeout(accept, aliveAfterMs)) : accept()), aliveAfterMs);
        },
        (error) => finish(resultOfError(error)),
      );
      return () => {
        clearTimeout(timer);
        return cancel();
      };
    },
  };
}
