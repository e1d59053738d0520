/** Who gets the stop signal, and what becomes of it. */
import { signalFateOf } from '../command-line.ts';
import type { SignalFate } from '../command-line.ts';
import type { CheckFinding, Rule } from '../finding.ts';
import { imageName } from '../images.ts';
import type { ContainerSpec, Inspection, ShutdownSpec } from '../shutdown-spec.ts';

/** Containers that get a stop signal when the pod is deleted. */
export const signalled = ({ containers }: ShutdownSpec): readonly ContainerSpec[] =>
  containers.filter(({ runs, kind }) => runs && kind !== 'init');

/** STOPSIGNAL of images that are known not to stop on SIGTERM (their Dockerfiles). */
const knownStopSignals: Readonly<Record<string, string>> = {
  nginx: 'QUIT',
  httpd: 'WINCH',
  postgres: 'INT',
  haproxy: 'USR1',
  php: 'QUIT',
};

/** Without the prefix SIG: `lifecycle.stopSignal`, else the image's where it is known, else TERM. */
export const stopSignalOf = ({ stopSignal, image }: ContainerSpec): string =>
  stopSignal?.replace(/^SIG/, '') ?? knownStopSignals[imageName(image)] ?? 'TERM';

/** Where the pod's processes share a namespace, a container's first one is not PID 1: an unhandled signal ends it. */
export const fateOf = ({ sharesProcesses }: ShutdownSpec, container: ContainerSpec): SignalFate => {
  const { inspection } = container;
  // What was read of the process itself goes before what its command suggests.
  if (inspection && inspection.kind !== 'unreadable') return inspectedFate(inspection);
  const fate = signalFateOf(container.command, stopSignalOf(container));
  return sharesProcesses && fate.kind === 'shell' ? { kind: 'unknown' } : fate;
};

function inspectedFate(inspection: Exclude<Inspection, { kind: 'unreadable' }>): SignalFate {
  if (inspection.kind === 'handles') return { kind: 'handles', how: 'a signal handler (read from /proc/1/status)' };
  if (inspection.kind === 'blocked')
    return { kind: 'depends', because: 'PID 1 blocks the signal: it may wait for it with sigwait or signalfd' };
  const because = `PID 1 is \`${inspection.command}\``;
  if (inspection.kind === 'no-handler' && inspection.isShell) return { kind: 'shell', because };
  return {
    kind: 'ignores',
    because: inspection.kind === 'ignores' ? `${because} and ignores it` : `${because} without a handler`,
  };
}

const fatal = (spec: ShutdownSpec): string => `SIGKILL after the grace period of ${spec.graceSeconds}s`;

const inspectedText = ({ name, inspection }: ContainerSpec): string =>
  `PID 1 of ${name} (\`${inspection && 'command' in inspection ? inspection.command : ''}\`)`;

function ignoring(spec: ShutdownSpec): CheckFinding[] {
  return signalled(spec).flatMap((one) => {
    const fate = fateOf(spec, one);
    if (fate.kind !== 'ignores') return [];
    return {
      code: one.inspection ? ('no-signal-handler' as const) : ('no-signal-handling' as const),
      severity: 'warning' as const,
      container: one.name,
      message: one.inspection
        ? `${inspectedText(one)} has no SIG${stopSignalOf(one)} handler: it will be killed at the end of the grace period of ${spec.graceSeconds}s`
        : `${one.name} ignores SIG${stopSignalOf(one)} (${fate.because}): ${fatal(spec)}`,
      advice: fate.because.includes('trap')
        ? 'Remove the trap, or handle the signal in it; exec keeps an ignored signal ignored.'
        : 'Handle the stop signal, or put an init such as tini in front of it.',
      path: [...one.path, one.command.command.length > 0 ? 'command' : 'args'],
    };
  });
}

function shells(spec: ShutdownSpec): CheckFinding[] {
  return signalled(spec).flatMap((one) => {
    const fate = fateOf(spec, one);
    if (fate.kind !== 'shell') return [];
    return {
      code: 'shell-as-pid-1' as const,
      severity: 'warning' as const,
      container: one.name,
      message: `PID 1 of ${one.name} is a shell that does not pass SIG${stopSignalOf(one)} on (${fate.because}): ${fatal(spec)}`,
      advice: 'Start the application with `exec …` or without a shell, or put an init such as tini in front of it.',
      path: [...one.path, 'command'],
    };
  });
}

/** SIGKILL cannot be handled, and a trap for another signal than the one that comes is never run. */
function mismatched(spec: ShutdownSpec): CheckFinding[] {
  return signalled(spec).flatMap((one) => {
    const signal = stopSignalOf(one);
    const path = one.stopSignal === undefined ? [...one.path, 'command'] : [...one.path, 'lifecycle', 'stopSignal'];
    const base = { code: 'stop-signal-mismatch' as const, severity: 'warning' as const, container: one.name, path };
    if (signal === 'KILL')
      return {
        ...base,
        message: `${one.name} is stopped with SIGKILL: it cannot finish anything`,
        advice: 'Choose a signal that it handles, such as SIGTERM.',
      };
    const handlesTerm = signalFateOf(one.command, 'TERM').kind === 'handles';
    if (signal === 'TERM' || !handlesTerm || fateOf(spec, one).kind === 'handles') return [];
    return {
      ...base,
      message: `${one.name} is stopped with SIG${signal}, and its command traps SIGTERM only`,
      advice: `Trap ${signal} as well, or set lifecycle.stopSignal to SIGTERM where the cluster supports it.`,
    };
  });
}

export const signalRules: readonly Rule[] = [
  { about: 'a command that ignores its stop signal', find: ignoring },
  { about: 'a shell as PID 1 that passes no signal on', find: shells },
  { about: 'a stop signal that nothing handles', find: mismatched },
];
