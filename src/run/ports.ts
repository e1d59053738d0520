/** What the session needs of the process around it: all of it comes in as arguments. */
import type { Interrupted } from '../model/observation.ts';
import type { Clock } from './clock.ts';
import type { Cluster } from '../kube/cluster.ts';
import { reachOf, type ConnectOptions } from '../kube/connect-options.ts';
import { connect } from '../kube/connect.ts';
import type { LookOptions } from './run.ts';

/** A stream that people or programs read. Writing to one that is closed does nothing. */
export interface Output {
  write(text: string): void;
  readonly isTty: boolean;
  columns(): number;
  rows(): number;
  onResize(listener: () => void): () => void;
  /** The reader went away (EPIPE); resolves then, and never otherwise. */
  readonly closed: Promise<void>;
}

export interface Ports {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly stdinIsTty: boolean;
  /**
   * Asks on stderr and reads one line of stdin; undefined where that has ended. Rejects, and reads no more, on abort. Absent
   * where nobody can be asked.
   */
  ask?(question: string, signal?: AbortSignal): Promise<string | undefined>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly platform: string;
  /** Version of the program. */
  readonly version: string;
  random(): number;
  /** Calls back for each signal; returns how to stop. */
  onSignal(listener: (signal: Interrupted['signal']) => void): () => void;
  /** Leaves at once: the second Ctrl-C. */
  leave(code: number): void;
}

/** Throws PodexitError where the configuration leads nowhere. Sends nothing yet. */
export async function connectCluster(
  connection: ConnectOptions,
  { env, stderr, stdinIsTty, platform, clock, random }: Ports,
  verbosity: number,
): Promise<Cluster> {
  return connect(connection, {
    variables: env,
    stderr,
    stdinIsTty,
    platform,
    now: clock.now,
    setTimeout: clock.setTimeout,
    random,
    log: (level, message) => void (level <= verbosity && stderr.write(`podexit: ${message}\n`)),
  });
}

/** Options whose picture advises commands for the same cluster. */
export const advisingSameCluster = <T extends { connection: ConnectOptions; look: LookOptions }>(options: T): T => ({
  ...options,
  look: { ...options.look, reach: reachOf(options.connection) },
});
