/** A target that is probed by connecting to it: does anybody accept? */
import { keepsNone, type ProbeClient } from './client.ts';
import { dial } from './connecting.ts';
import { failed, resultOfError, succeeded, type Result } from './result.ts';
import type { TcpTarget } from './target.ts';

/** ms: a balancer without a backend accepts, and closes at once. Who says something, or nothing for this long, is alive. */
const patienceMs = 50;

/** Nobody read it in time: a server that closes what says nothing for a while is alive. */
const closedSometime: Result = { kind: 'not-measured', reason: 'standstill', said: 'accepted and closed' };

export function createTcpClient({ host, port }: TcpTarget): ProbeClient {
  const open = new Set<() => void>();
  return {
    ...keepsNone,
    close: () => open.forEach((end) => end()),
    send(_connection, settle) {
      let timer: NodeJS.Timeout | undefined;
      let end = (): void => undefined;
      let connectedAt: number | undefined;
      const isLate = (): boolean => performance.now() - (connectedAt ?? Infinity) > 2 * patienceMs;
      const finish = (result: Result): void => {
        clearTimeout(timer);
        open.delete(end);
        settle(result, connectedAt);
        end();
      };
      const cancel = dial(
        { host, port },
        (socket) => {
          // Reset, not closed in order: thousands of closed sockets would wait in TIME_WAIT on this side.
          end = () => void socket.resetAndDestroy();
          open.add(end);
          connectedAt = performance.now();
          socket.once('data', () => finish(succeeded('connected')));
          socket.once('error', (error) => finish(resultOfError(error)));
          socket.once('end', () => finish(isLate() ? closedSometime : failed('reset', 'accepted and closed at once')));
          const accept = (): void => finish(succeeded('connected'));
          // Where this process did not run meanwhile, what came is read first.
          timer = setTimeout(() => (isLate() ? (timer = setTimeout(accept, patienceMs)) : accept()), patienceMs);
        },
        (error) => finish(resultOfError(error)),
      );
      return () => {
        clearTimeout(timer);
        open.delete(end);
        return cancel();
      };
    },
  };
}
