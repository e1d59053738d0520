/** Rules about stop signals: which containers get one, and whether they handle it. */
import { signalHandlingOf, type SignalHandling } from '../command-line.ts';
import { at, warning, type CheckFinding, type Rule } from '../finding.ts';
import type { ContainerSpec, Inspection, ShutdownSpec } from '../shutdown-spec.ts';

/** Containers that get a stop signal when the pod is deleted. */
export const signalled = ({ containers }: ShutdownSpec): readonly ContainerSpec[] =>
  containers.filter(({ runs, kind }) => runs && kind !== 'init');

/** The last part of a repository, without tag and digest: `nginx` of `docker.io/library/nginx:1.27@sha256:…`. */
export const imageName = (image: string): string =>
  (image.split('@')[0] ?? '').split('/').at(-1)?.split(':')[0]?.toLowerCase() ?? '';

/** STOPSIGNAL of well-known images that is not SIGTERM, from their Dockerfiles. */
const knownStopSignals: Readonly<Record<string, string>> = {
  nginx: 'QUIT',
  httpd: 'WINCH',
  postgres: 'INT',
  haproxy: 'USR1',
  php: 'QUIT',
};

/** Without the prefix SIG: `lifecycle.stopSignal`, else the image's if known, else TERM. */
export const stopSignalOf = ({ stopSignal, image }: ContainerSpec): string =>
  stopSignal?.replace(/^SIG/, '') ?? knownStopSignals[imageName(image)] ?? 'TERM';

/** With a shared process namespace, no container has PID 1: a signal without a handler ends it. */
export const handlingOf = ({ sharesProcesses }: ShutdownSpec, container: ContainerSpec): SignalHandling => {
  const { inspection } = container;
  // What was read from the process itself outranks what its command suggests.
  if (inspection && inspection.kind !== 'unreadable') return inspectedHandling(inspection);
  const handling = signalHandlingOf(container.command, stopSignalOf(container));
  return sharesProcesses && handling.kind === 'shell' ? { kind: 'unknown' } : handling;
};

function inspectedHandling(inspection: Exclude<Inspection, { kind: 'unreadable' }>): SignalHandling {
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

const killText = (spec: ShutdownSpec): string => `SIGKILL after the grace period of ${spec.graceSeconds}s`;

const ignoring = (spec: ShutdownSpec): CheckFinding[] =>
  signalled(spec).flatMap((container) => {
    const handling = handlingOf(spec, container);
    if (handling.kind !== 'ignores') return [];
    const { name, inspection, command } = container;
    const signal = `SIG${stopSignalOf(container)}`;
    const advice = handling.because.includes('trap')
      ? 'Remove the trap, or handle the signal in it; exec keeps an ignored signal ignored.'
      : 'Handle the stop signal, or put an init such as tini in front of it.';
    const details = { ...at(container, command.command.length > 0 ? 'command' : 'args'), advice };
    if (!inspection || inspection.kind === 'unreadable') {
      const message = `${name} ignores ${signal} (${handling.because}): ${killText(spec)}`;
      return warning('no-signal-handling', message, details);
    }
    const end = `it will be killed at the end of the grace period of ${spec.graceSeconds}s`;
    const message = `PID 1 of ${name} (\`${inspection.command}\`) has no ${signal} handler: ${end}`;
    return warning('no-signal-handler', message, details);
  });

const shells = (spec: ShutdownSpec): CheckFinding[] =>
  signalled(spec).flatMap((container) => {
    const handling = handlingOf(spec, container);
    if (handling.kind !== 'shell') return [];
    const shell = `PID 1 of ${container.name} is a shell that does not pass SIG${stopSignalOf(container)} on (${handling.because})`;
    const advice =
      'Start the application with `exec …` or without a shell, or put an init such as tini in front of it.';
    return warning('shell-as-pid-1', `${shell}: ${killText(spec)}`, { ...at(container, 'command'), advice });
  });

/** SIGKILL cannot be handled, and a trap for a signal that is not sent never runs. */
const mismatched = (spec: ShutdownSpec): CheckFinding[] =>
  signalled(spec).flatMap((container) => {
    const signal = stopSignalOf(container);
    const place =
      container.stopSignal === undefined ? at(container, 'command') : at(container, 'lifecycle', 'stopSignal');
    const code = 'stop-signal-mismatch';
    if (signal === 'KILL')
      return warning(code, `${container.name} is stopped with SIGKILL: it cannot finish anything`, {
        ...place,
        advice: 'Choose a signal that it handles, such as SIGTERM.',
      });
    const handlesTerm = signalHandlingOf(container.command, 'TERM').kind === 'handles';
    if (signal === 'TERM' || !handlesTerm || handlingOf(spec, container).kind === 'handles') return [];
    return warning(code, `${container.name} is stopped with SIG${signal}, and its command traps SIGTERM only`, {
      ...place,
      advice: `Trap ${signal} as well, or set lifecycle.stopSignal to SIGTERM where the cluster supports it.`,
    });
  });

export const signalRules: readonly Rule[] = [
  { about: 'a command that ignores its stop signal', find: ignoring },
  { about: 'a shell as PID 1 that passes no signal on', find: shells },
  { about: 'a stop signal that nothing handles', find: mismatched },
];
