/** A command while it is connected to a cluster. */
import type { Cluster } from '../kube/cluster.ts';
import { connectionFlagsOf, type ConnectOptions } from '../kube/connect-options.ts';
import { connect } from '../kube/connect.ts';
import { unlessAborted } from '../kube/env.ts';
import { PodexitError } from '../errors.ts';
import type { Ports } from './ports.ts';
import { unlessInterrupted, createDeadline, type Deadline } from './ending/leaving.ts';
import type { TraceOptions } from './options.ts';

export interface Session {
  readonly cluster: Cluster;
  /** Ends at --timeout. */
  readonly deadline: Deadline;
  readonly ports: Ports;
}

type SessionOptions = Pick<TraceOptions, 'connection' | 'verbosity' | 'look'> &
  Partial<Pick<TraceOptions, 'record' | 'reports' | 'timeoutMs'>>;

/** Checks the output files, connects, and does the work. Returns its exit code. */
export async function inSession<T extends SessionOptions>(
  options: T,
  ports: Ports,
  work: (session: Session, options: T) => Promise<number>,
): Promise<number> {
  const { record, reports = [] } = options;
  // Most runs write no file, and need not load the check.
  if (record !== undefined || reports.length > 0)
    await (await import('../output/report-files.ts')).assertOutputs({ record, reports });
  // Suggested commands reach the same cluster.
  const look = { ...options.look, flags: connectionFlagsOf(options.connection), isDemo: ports.isDemo };
  return withCluster(options.connection, ports, options.verbosity, (cluster) => {
    const deadline = createDeadline(ports.clock, options.timeoutMs ?? null);
    return work({ cluster, deadline, ports }, { ...options, look }).finally(deadline.cancel);
  });
}

/** Connects, does the work, and closes the connection. Throws PodexitError if the configuration has no usable server. */
export async function withCluster<T>(
  connection: ConnectOptions,
  ports: Ports,
  verbosity: number,
  work: (cluster: Cluster) => Promise<T>,
): Promise<T> {
  const { clock, env, stderr } = ports;
  const log = (level: number, message: string): void =>
    void (level <= verbosity && stderr.write(`podexit: ${message}\n`));
  const cluster = await connect(connection, { ...ports, ...clock, variables: env, log });
  try {
    return await work(cluster);
  } finally {
    cluster.close();
  }
}

/** Like kubectl's, --ignore-not-found covers the object, not its namespace or permissions, and prints nothing. */
export const isIgnored = (error: unknown, { ignoreNotFound }: Pick<TraceOptions, 'ignoreNotFound'>): boolean =>
  ignoreNotFound &&
  error instanceof PodexitError &&
  // `pod.gone`: gone when the DELETE arrived.
  ['pod.not-found', 'target.no-pods', 'target.not-found', 'pod.gone'].includes(error.code);

/** Reads `what`. Throws `target.unread` (exit code 3) at --timeout, and `run.left` on a signal. */
export function readInTime<T>({ cluster, deadline, ports }: Session, what: string, read: () => Promise<T>): Promise<T> {
  const late = (): PodexitError =>
    new PodexitError(
      'target.unread',
      `${what} in namespace "${cluster.namespace}" could not be read within --timeout`,
      'Nothing was deleted. -v=6 logs all requests.',
      { exitCode: 3 },
    );
  return unlessInterrupted(ports, () => unlessAborted(deadline.signal, read, late));
}

/** Exit code if something could not be done, such as a recording. */
export const failedCode = 1;

/** Whether a person at a terminal can be asked. */
export const canAsk = ({ ask, stdinIsTty, stderr }: Ports): boolean => ask !== undefined && stdinIsTty && stderr.isTty;

/** The answer to a question; undefined if there is none. --timeout does not run meanwhile. */
export const ask = ({ deadline, ports }: Session, question: string, left: AbortSignal): Promise<string | undefined> =>
  deadline.pauseWhile(async () => ports.ask?.(question, left));
