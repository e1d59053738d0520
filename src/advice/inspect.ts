/** `check --inspect`: reads by `cat` in each container whether PID 1 handles its stop signal, which no spec shows. */
import type { Cluster } from '../kube/cluster.ts';
import { execIn, type ExecResult } from '../kube/exec.ts';
import { lineOfShell } from '../programs/shell-script.ts';
import { rowOf, numberOfSignal } from '../programs/rows.ts';
import { signalHandlingOf, type SignalHandling } from './signal-handling.ts';
import { stopSignalOf } from './rules/stop.ts';
import type { Inspection } from './container-spec.ts';
import { signalled } from './problem.ts';
import type { Situation } from './situation.ts';

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

const textOf = (answer: ExecResult): string => (answer.kind === 'done' ? answer.stdout.toString('utf8') : '');

export function inspectionOf(status: ExecResult, cmdline: ExecResult, signal: string, sharesProcesses: boolean) {
  const unreadable = (because: string): Inspection => ({ kind: 'unreadable', because });
  if (sharesProcesses) return unreadable('its processes are shared, so PID 1 is not the application');
  if (status.kind === 'refused') return unreadable(whyRefused(status));
  if (status.kind === 'failed') return unreadable(whyFailed(status.message));
  // The signals that PID 1 blocks (`Blk`), ignores and catches, as bit masks.
  const rows = textOf(status).matchAll(/^Sig(Blk|Ign|Cgt):\s*([0-9a-fA-F]{8,16})$/gm);
  const masks = new Map([...rows].map(([, name, hex]) => [name, BigInt(`0x${hex}`)]));
  if (masks.size < 3) return unreadable('/proc/1/status shows no signal masks: a sandboxed runtime');
  const number = numberOfSignal(`SIG${signal}`);
  if (number === undefined) return unreadable(`its place in the signal masks is not known for SIG${signal}`);
  const words = textOf(cmdline).split('\0').filter(Boolean);
  const command = words.join(' ').slice(0, 120);
  const has = (mask: 'Blk' | 'Ign' | 'Cgt'): boolean => (((masks.get(mask) ?? 0n) >> BigInt(number - 1)) & 1n) === 1n;
  const read = (handling: SignalHandling): Inspection => ({ kind: 'read', command, handling });
  const because = `PID 1 is \`${command}\``;
  const found = signalHandlingOf({ command: words, args: [], image: undefined }, signal);
  const handles = { kind: 'handles', how: 'it has a signal handler (read from /proc/1/status)' } as const;
  const isScript = lineOfShell(words) !== undefined;
  // The bit of a shell is that of its trap, which may run too late.
  const late = isScript && /^(shell|ignores|cuts)$/.test(found.kind) ? found : undefined;
  if (has('Cgt')) return read(late ?? caughtByRuntime(words, masks.get('Cgt') ?? 0n, signal) ?? handles);
  // An init waits for its signals, which sets no bit of SigCgt; so do some programs, whose table row says what they do.
  const known = rowOf(words);
  if (known?.kind === 'init' || (known && has('Blk') && found.kind === 'handles'))
    return read(
      found.kind === 'unknown' ? { kind: 'depends', because: `${because}, which passes SIG${signal} on` } : found,
    );
  if (has('Blk'))
    return read({ kind: 'depends', because: 'PID 1 blocks the signal: it may wait for it with sigwait or signalfd' });
  if (has('Ign')) return read({ kind: 'ignores', because: `${because} and ignores it` });
  const isShell = isScript || /^(-|.*\/)?(ba|da|a|z|k)?sh$/.test(words[0] ?? '');
  return read(isShell ? { kind: 'shell', because } : { kind: 'ignores', because: `${because} without a handler` });
}

/** That the bit in SigCgt may be the runtime's own, so that it does not prove a handler of the application. */
function caughtByRuntime(words: readonly string[], caught: bigint, signal: string): SignalHandling | undefined {
  const row = rowOf(words);
  const own = `${row?.name} catches SIG${signal} by itself, so /proc/1/status does not show whether the application handles it`;
  if (row?.catchesByItself) return { kind: 'depends', because: own };
  // A program of the table does what its row says. No application handles as many signals as Go's runtime, about 60.
  if (row !== undefined || caught.toString(2).replaceAll('0', '').length < 40) return undefined;
  const because = `PID 1 catches all signals, as Go's runtime does by itself: without a handler for SIG${signal} it ends at once, with exit code 2 before Go 1.27`;
  return { kind: 'depends', because };
}

/** Names the permissions, both since 1.35, only for 401 and 403: a container that is not running is refused too. */
const whyRefused = ({ status, message }: Extract<ExecResult, { kind: 'refused' }>): string =>
  status === 401 || status === 403
    ? `the API server refused the exec (${status}); it needs get and create of pods/exec`
    : `the exec was refused (${status}): ${message.slice(0, 200)}`;

/** How runtimes report a missing binary: runc and containerd, then crun. Errors of `cat` itself do not match. */
const catIsMissing =
  /exec: "cat": (?:executable file not found|stat cat: no such file)|executable file [`']cat[`'] not found/;

const whyFailed = (message: string): string =>
  catIsMissing.test(message) ? 'the container has no cat (a distroless image)' : `cat failed: ${message.slice(0, 200)}`;
