/** A client that speaks over connections which it makes itself: one for each request, or one that is kept. */
import { connect, isIP, type Socket } from 'node:net';
import { connect as secureConnect } from 'node:tls';
import type { Cancel, Connection, ProbeClient, Settle } from './client.ts';
import { closedEarly, resultOfError } from './result.ts';

export interface Speaker {
  address: Address;
  /** Speaks the protocol that was agreed on a connection that stands. `again`: see http2.ts. */
  speak(socket: Socket, protocol: string | false, isKept: boolean, again?: (settle: Settle) => Cancel): Connection;
  /** Sends this probe's one request. */
  ask(connection: Connection, settle: Settle): Cancel;
}

export function createConnectingClient(speaker: Speaker): ProbeClient {
  const open = new Set<() => void>();
  let kept: Connection | undefined;
  let isKeptBusy = false;
  let resent = 0;
  const again = (settle: Settle): Cancel => {
    resent += 1;
    return askOnce(speaker, open, settle);
  };

  function askKept(settle: Settle): Cancel {
    isKeptBusy = true;
    const settled: Settle = (result, answeredAt) => {
      isKeptBusy = false;
      settle(result, answeredAt);
    };
    let cancel: Cancel;
    if (kept?.isUsable) cancel = speaker.ask(kept, settled);
    else {
      kept?.close();
      kept = undefined;
      cancel = connectAndAsk({ speaker, open, again }, settled, (connection) => (kept = connection));
    }
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
    get resent() {
      return resent;
    },
    send: (connection, settle) => (connection === 'kept' ? askKept(settle) : askOnce(speaker, open, settle)),
    forgetKept() {
      if (isKeptBusy) return;
      kept?.close();
      kept = undefined;
    },
    close() {
      open.forEach((end) => end());
      kept?.close();
    },
  };
}

interface Way {
  speaker: Speaker;
  /** How to end what is on its way. */
  open: Set<() => void>;
  /** Of a connection that is kept. */
  again?: (settle: Settle) => Cancel;
}

/** Connects, asks, and hands the connection over when that is settled. */
function connectAndAsk({ speaker, open, again }: Way, settle: Settle, then: (connection: Connection) => void): Cancel {
  let cancel: Cancel = dial(
    speaker.address,
    (socket, protocol) => {
      const connection = speaker.speak(socket, protocol, again !== undefined, again);
      cancel = speaker.ask(connection, (result, answeredAt) => {
        open.delete(end);
        settle(result, answeredAt);
        then(connection);
      });
    },
    (error) => {
      open.delete(end);
      settle(resultOfError(error));
    },
  );
  const end = (): 'dns' | undefined => {
    open.delete(end);
    return cancel();
  };
  open.add(end);
  return end;
}

const askOnce = (speaker: Speaker, open: Way['open'], settle: Settle): Cancel =>
  connectAndAsk({ speaker, open }, settle, (connection) => connection.close());

export interface Address {
  host: string;
  port: number;
  tls?: { ca?: string; insecure: boolean; protocols: string[] };
}

/**
 * A connection of its own, with TLS where the address has it. Calls `connected` or `failed` once, and neither after a
 * cancel; errors of the socket after `connected` belong to who took it.
 */
export function dial(
  { host, port, tls }: Address,
  connected: (socket: Socket, protocol: string | false) => void,
  failed: (error: NodeJS.ErrnoException) => void,
): Cancel {
  const socket = tls
    ? secureConnect({
        host,
        port,
        servername: isIP(host) === 0 ? host : undefined,
        ca: tls.ca,
        rejectUnauthorized: !tls.insecure,
        ALPNProtocols: tls.protocols,
      })
    : connect({ host, port });
  socket.setNoDelay(true);
  let isDone = false;
  let isResolving = isIP(host) === 0;
  const settle = (work: () => void): void => {
    if (isDone) return;
    isDone = true;
    work();
  };
  const fail = (error: NodeJS.ErrnoException): void => settle(() => failed(error));
  // Stays: an error after all is settled must not end the process.
  socket.on('error', fail);
  socket.once('lookup', () => (isResolving = false));
  socket.once('close', () => fail(closedEarly()));
  socket.once(tls ? 'secureConnect' : 'connect', () =>
    settle(() => connected(socket, 'alpnProtocol' in socket ? (socket.alpnProtocol as string | false) : false)),
  );
  return () => {
    isDone = true;
    socket.destroy();
    return isResolving ? 'dns' : undefined;
  };
}
