/** The command that starts a rollout when all streams are in sync: kubectl's, or one that the user gives. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { PodexitError } from '../../errors.ts';
import { connectionArguments, type ConnectOptions } from '../../kube/connect-options.ts';
import type { Ports } from '../ports.ts';

/** How a rollout is started. */
export type RolloutStart =
  | { kind: 'restart' }
  /** `CONTAINER=IMAGE`. */
  | { kind: 'image'; image: string }
  | { kind: 'command'; argv: readonly string[] };

/**
 * The command line. `owner`: `deployment/checkout`. kubectl reaches the same cluster as the same user, except with
 * --token, --username or --password: other users of this machine could read them in its arguments.
 */
export function commandOf(
  start: RolloutStart,
  owner: string,
  namespace: string,
  connection: ConnectOptions,
  env: Ports['env'],
): readonly string[] {
  if (start.kind === 'command') return start.argv;
  const verb = start.kind === 'restart' ? ['rollout', 'restart', owner] : ['set', 'image', owner, start.image];
  return [env['KUBECTL_PATH'] || 'kubectl', ...verb, '-n', namespace, ...connectionArguments(connection)];
}

/**
 * Runs the command to its end; ends it on abort. `write` gets its output, for stderr, because stdout is for reports.
 * Throws PodexitError `rollout.command-failed` if it cannot be started or fails.
 */
export async function runCommand(
  [program = '', ...args]: readonly string[],
  write: (text: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const child = spawn(program, args, { stdio: ['inherit', 'pipe', 'pipe'], signal });
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', write);
  const [code, endedBy] = (await once(child, 'close').catch((cause: NodeJS.ErrnoException) => {
    if (signal.aborted) return [0];
    throw failed(program, `could not be started (${cause.code ?? cause.message})`, cause);
  })) as [code: number | null, endedBy?: string];
  if (code === 0 || signal.aborted) return;
  throw failed(program, code === null ? `was ended by ${endedBy ?? 'a signal'}` : `failed with exit code ${code}`);
}

const failed = (program: string, how: string, cause?: unknown): PodexitError =>
  new PodexitError(
    'rollout.command-failed',
    `${program} ${how}`,
    'Its own output above says why; pods that terminated until then are reported.',
    { cause },
  );
