/** From the connection flags to a cluster, with the process around it handed in. */
import type { Cluster } from '../kube/cluster.ts';
import type { ConnectOptions } from '../kube/connect-options.ts';
import { reachOf } from '../kube/connect-options.ts';
import { connect } from '../kube/connect.ts';
import type { Surroundings } from '../kube/surroundings.ts';
import type { LookOptions } from './audience.ts';
import type { Ports } from './ports.ts';

/** Throws PodexitError where the configuration leads nowhere. Sends nothing yet. */
export async function connectCluster(connection: ConnectOptions, ports: Ports, verbosity: number): Promise<Cluster> {
  return connect(connection, surroundingsOf(ports, verbosity));
}

/** Options whose picture advises commands for the same cluster. */
export const advisingSameCluster = <T extends { connection: ConnectOptions; look: LookOptions }>(options: T): T => ({
  ...options,
  look: { ...options.look, reach: reachOf(options.connection) },
});

function surroundingsOf({ env, stderr, stdinIsTty, platform, clock, random }: Ports, verbosity: number): Surroundings {
  return {
    env,
    stderr,
    stdinIsTty,
    platform,
    now: clock.now,
    setTimeout: clock.setTimeout,
    random,
    log: (level, message) => void (level <= verbosity && stderr.write(`podexit: ${message}\n`)),
  };
}
