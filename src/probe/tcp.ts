/** Probes a target by connecting to it: does anything accept? */
import { noKeptConnection, type ProbeClient } from './client.ts';
import { openConnection } from './connecting.ts';
import { failed, resultOfError, succeeded, type Result } from './result.ts';
import type { TcpTarget } from './target.ts';

/** A balancer without a backend accepts and closes at once. A target that sends, or is silent this long, is alive. */
const aliveAfterMs = 50;

/** The end was read too late to judge: a server that is alive may also close a silent connection after a while. */
const closedTooLate: Result = { kind: 'not-measured', reason: 'standstill', said: 'accepted and closed' };

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
