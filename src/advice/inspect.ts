/**
 * `check --inspect`: reads `/proc/1/status` and `/proc/1/cmdline` in each container with `cat`, to see whether PID 1
 * handles its stop signal, which no spec shows. The decoding is pure.
 */
import type { Cluster } from '../kube/cluster.ts';
import { execIn, type ExecResult } from '../kube/exec.ts';
import { lineOfShell } from '../programs/shell-arguments.ts';
import type { SignalHandling } from './signal-handling.ts';
import { numberOfSignal } from '../programs/signals.ts';
import { signalled } from './problem.ts';
import { stopSignalOf } from './rules/stop.ts';
import type { Inspection } from './container-spec.ts';
import type { Situation } from './situation.ts';

/** RBAC permissions for `--inspect`. Since 1.35 the API server requires `create` as well. */
const neededPermissions = 'get and create of pods/exec';

/** Adds to the spec what was read from each running container. Throws if the connection is lost. */
export async function inspected(cluster: Cluster, spec: Situation): Promise<Situation> {
  const found = new Map<string, Inspection>();
  for (const container of signalled(spec)) {
    const cat = (file: string) =>
      execIn(cluster, { pod: spec.subject.name, container: container.name, command: ['cat', file] });
    const status = await cat('/proc/1/status');
    const cmdline = status.kind === 'done' ? await cat('/proc/1/cmdline') : status;
    found.set(container.name, inspectionOf(status, cmdline, stopSignalOf(container), spec.sharesProcesses));
  }
  return { ...spec, containers: spec.containers.map((one) => ({ ...one, inspection: found.get(one.name) })) };
}

export function inspectionOf(
  status: ExecResult,
  cmdline: ExecResult,
  signal: string,
  sharesProcesses: boolean,
): Inspection {
  const unreadable = (because: string): Inspection => ({ kind: 'unreadable', because });
  if (sharesProcesses) return unreadable('the pod shares its processes, so PID 1 is not the application');
  if (status.kind === 'refused') return unreadable(whyRefused(status));
  if (status.kind === 'failed') return unreadable(whyFailed(status.message));
  const masks = masksIn(status.stdout.toString('utf8'));
  if (masks.size < 3) return unreadable('/proc/1/status shows no signal masks: a sandboxed runtime');
  const number = numberOfSignal(`SIG${signal}`);
  if (number === undefined) return unreadable(`its place in the signal masks is not known for SIG${signal}`);
  const words = cmdline.kind === 'done' ? cmdline.stdout.toString('utf8').split('\0').filter(Boolean) : [];
  const command = words.join(' ').slice(0, 120);
  const has = (mask: 'Blk' | 'Ign' | 'Cgt'): boolean => (((masks.get(mask) ?? 0n) >> BigInt(number - 1)) & 1n) === 1n;
  const read = (handling: SignalHandling): Inspection => ({ kind: 'read', command, handling });
  const because = `PID 1 is \`${command}\``;
  if (has('Cgt')) return read({ kind: 'handles', how: 'it has a signal handler (read from /proc/1/status)' });
  if (has('Blk'))
    return read({ kind: 'depends', because: 'PID 1 blocks the signal: it may wait for it with sigwait or signalfd' });
  if (has('Ign')) return read({ kind: 'ignores', because: `${because} and ignores it` });
  const isShell = lineOfShell(words) !== undefined || /^(-|.*\/)?(ba|da|a|z|k)?sh$/.test(words[0] ?? '');
  return read(isShell ? { kind: 'shell', because } : { kind: 'ignores', because: `${because} without a handler` });
}

/** Names the permissions only for 401 and 403: a container that is not running is refused too. */
const whyRefused = ({ status, message }: Extract<ExecResult, { kind: 'refused' }>): string =>
  status === 401 || status === 403
    ? `the API server refused the exec (${status}); it needs ${neededPermissions}`
    : `the exec was refused (${status}): ${message.slice(0, 200)}`;

/** How runtimes report a missing binary: runc and containerd, then crun. Errors of `cat` itself do not match. */
const catIsMissing =
  /exec: "cat": (?:executable file not found|stat cat: no such file)|executable file [`']cat[`'] not found/;

const whyFailed = (message: string): string =>
  catIsMissing.test(message) ? 'the container has no cat (a distroless image)' : `cat failed: ${message.slice(0, 200)}`;

/** The signals that PID 1 blocks (`Blk`), ignores and catches, as bit masks. */
const masksIn = (status: string): Map<string | undefined, bigint> => {
  const found = status.matchAll(/^Sig(Blk|Ign|Cgt):\s*([0-9a-fA-F]{8,16})$/gm);
  return new Map([...found].map(([, name, hex]) => [name, BigInt(`0x${hex}`)]));
};
