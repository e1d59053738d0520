/** A client that makes its own connections: one for each request, or one that is kept. */
import { connect, isIP, type Socket } from 'node:net';
import { connect as secureConnect } from 'node:tls';
import type { Cancel, Connection, ProbeClient, Settle } from './client.ts';
import { closedEarly, resultOfError } from './result.ts';

export interface Speaker {
  address: Address;
  /** Speaks the negotiated protocol on an open connection. Only a kept connection has `resend` (see http2.ts). */
  speak(socket: Socket, protocol: string | false, resend?: (settle: Settle) => Cancel): Connection;
  /** Sends this probe's request. */
  ask(connection: Connection, settle: Settle): Cancel;
}

export function createConnectingClient(speaker: Speaker): ProbeClient {
  let kept: Connection | undefined;
  let isKeptBusy = false;
  let resent = 0;
  const askOnce = (settle: Settle): Cancel => connectAndAsk(speaker, settle, (connection) => connection.close());
  const resend = (settle: Settle): Cancel => {
    resent += 1;
    return askOnce(settle);
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
      cancel = connectAndAsk(speaker, settled, (connection) => (kept = connection), resend);
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
  { address, speak, ask }: Speaker,
  settle: Settle,
  then: (made: Connection) => void,
  resend?: (settle: Settle) => Cancel,
): Cancel {
  let cancel: Cancel = dial(
    address,
    (socket, protocol) => {
      const connection = speak(socket, protocol, resend);
      cancel = ask(connection, (result, answeredAt) => {
        settle(result, answeredAt);
        then(connection);
      });
    },
    (error) => settle(resultOfError(error)),
  );
  return () => cancel();
}

export interface Address {
  host: string;
  port: number;
  tls?: { ca?: string; insecure: boolean; protocols: string[] };
}

/**
 * Opens a connection, with TLS if the address has it. Calls `connected` or `failed` once, and neither after a cancel.
 * After `connected` the caller handles the errors of the socket.
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
    return isResolving ? 'dns' : undefined;
  };
}
