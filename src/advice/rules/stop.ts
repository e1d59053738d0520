/** Rules about how a container is stopped: hook, grace period (SIGNALS.md §2 S6 to S8), stop signal and its handler. */
import { execRemedy } from '../../programs/links.ts';
import { signalHandlingOf, type SignalHandling } from '../signal-handling.ts';
import { rowOfImage, stopSignalOfImage } from '../../programs/rows.ts';
import { stopBehaviour } from '../../programs/stop-behaviour.ts';
import type { ContainerSpec } from '../container-spec.ts';
import { at, error, note, ofContainer, warning, type Problem } from '../problem.ts';
import { hookSecondsOf, isJob, rolesOf, servicesTo } from '../roles.ts';
import { defaultGraceSeconds, isHeavyHook } from '../sizes.ts';
import type { Situation } from '../situation.ts';

/** The kubelet leaves at least this much between the end of a hook and SIGKILL (SIGNALS.md §2 S8). */
const minSecondsAfterHook = 2;

const atHook = (container: ContainerSpec) => at(container, 'lifecycle', 'preStop');

const impossibleHooks = ofContainer((container, spec) => {
  const { fails, kind, plannedSeconds } = container.hook ?? {};
  if (fails === undefined) return undefined;
  const isSleep = kind === 'tcpSocket' || plannedSeconds !== undefined || servicesTo(container, spec).length > 0;
  const advice = isSleep ? undefined : 'Write it so that it can run, each word an item of its own, or remove it.';
  return warning('prestop-failed', `the preStop hook of ${container.name} ${fails}`, { ...atHook(container), advice });
});

const longHooks = ofContainer((container, spec) => {
  const { graceSeconds: grace } = spec;
  const { kind, minSeconds: seconds = 0, isPlainSleep } = container.hook ?? {};
  // Windows has no sleep of POSIX.
  if (grace === 0 || !isHeavyHook(seconds, grace) || (spec.isWindows && kind === 'exec')) return undefined;
  const atLeast = isPlainSleep ? '' : 'at least ';
  const takes = `the preStop hook of ${container.name} takes ${atLeast}${seconds}s of the ${grace}s grace period`;
  if (kind === 'sleep' && seconds > (spec.specGraceSeconds ?? defaultGraceSeconds))
    return error('prestop-cut-off', `${takes}: the API server refuses such a pod`, atHook(container));
  if (seconds >= grace) {
    const end = `it is cut off, ${signalText(spec, container)} comes as the grace period ends, and ${killText(spec)} ${minSecondsAfterHook}s later`;
    return error('prestop-cut-off', `${takes}: ${end}`, atHook(container));
  }
  const left = Math.max(minSecondsAfterHook, grace - Math.floor(seconds));
  const minimum = left === minSecondsAfterHook ? " (the kubelet's minimum)" : '';
  const code = seconds >= grace * 0.75 ? 'grace-nearly-spent' : 'prestop-heavy';
  return warning(code, `${takes} and leaves it ${left}s${minimum}`, atHook(container));
});

const slowApplications = ofContainer((container, spec) => {
  const { name, ownTimeout, kind } = container;
  const hookSeconds = hookSecondsOf(container) ?? 0;
  if (!ownTimeout || kind !== 'main' || spec.graceSeconds === 0) return undefined;
  const isOver = hookSeconds + ownTimeout.seconds > spec.graceSeconds;
  if (!isOver && hookSeconds + ownTimeout.seconds < spec.graceSeconds) return undefined;
  const hook = hookSeconds > 0 ? ` after a preStop hook of ${hookSeconds}s` : '';
  const message = `${name} may take ${ownTimeout.seconds}s to stop (${ownTimeout.from})${hook}, and its grace period is ${spec.graceSeconds}s: ${killText(spec)} ${isOver ? 'comes' : 'may come'} first`;
  return warning('timeout-exceeds-grace', message, at(container));
});

function noGrace({ graceSeconds, podPath }: Situation): Problem[] {
  if (graceSeconds > 0) return [];
  const message = 'with a grace period of 0 the object is removed before its containers have ended';
  return [error('force-deleted', message, { path: [...podPath, 'terminationGracePeriodSeconds'] })];
}

/** Without the prefix SIG: `lifecycle.stopSignal`, else the image's if known, else TERM. */
export const stopSignalOf = ({ stopSignal, image }: ContainerSpec): string =>
  (stopSignal ?? stopSignalOfImage(image) ?? 'SIGTERM').replace(/^SIG/, '');

/** As messages name it: what Windows sends has other names, and an image that brings its program may bring its signal. */
export const signalText = ({ isWindows }: Situation, container: ContainerSpec): string =>
  isWindows || (isUpToImage(container) && (container.command.command.length === 0 || rightSignalOf(container)))
    ? 'its stop signal'
    : `SIG${stopSignalOf(container)}`;

/** Of rows without an entry point the Dockerfile was not read. */
const isUpToImage = ({ stopSignal, image }: ContainerSpec): boolean =>
  [stopSignal, rowOfImage(image)?.stop, rowOfImage(image)?.entry].every((one) => one === undefined);

/** What its program needs to finish its work, which an image that is not known may set as its STOPSIGNAL. Without SIG. */
const rightSignalOf = ({ command }: ContainerSpec) => stopBehaviour(command, 'TERM', 30).rightSignal?.slice(3);

const killText = ({ isWindows }: Situation): string => (isWindows ? 'the kill' : 'SIGKILL');

/** What was read from the process itself outranks what its command suggests. */
export function handlingOf(spec: Situation, container: ContainerSpec): SignalHandling {
  const { inspection, command, hook } = container;
  if (spec.isWindows) return { kind: 'unknown' };
  const read = inspection?.kind === 'read' ? inspection.handling : undefined;
  const handling = read ?? signalHandlingOf(command, stopSignalOf(container), spec.graceSeconds);
  const { stops, line = '' } = hook ?? {};
  if (handling.kind === 'shell' && stops && !hook?.fails && !/\bkill (-\S+ )?1\s*$/.test(line))
    return { kind: 'depends', because: 'its preStop hook stops a process of it, which may be its application' };
  if (!isUpToImage(container)) return handling;
  const right = read ?? signalHandlingOf(command, rightSignalOf(container));
  if (handling.kind === 'handles' && right.kind === 'handles' && right.how !== handling.how)
    return { kind: 'handles', how: `its image decides: ${handling.how}; ${right.how}` };
  if (handling.kind !== 'shell' && handling.kind !== 'ignores') return handling;
  const drains = (one: SignalHandling): boolean => one.kind === 'handles' && !one.endsAtOnce;
  const other = 'RTMIN+3 QUIT INT USR1 USR2 WINCH HUP'.split(' ').find((one) => drains(signalHandlingOf(command, one)));
  if (other === undefined) return handling;
  const because = `its command handles SIG${other}, not SIGTERM: enough only if its image sets STOPSIGNAL SIG${other}`;
  return { kind: 'depends', because };
}

/** What in front of the application, or the application itself, does with the stop signal, if that is not to end in time. */
const signals = ofContainer((container, spec) => {
  const handling = handlingOf(spec, container);
  // With a grace period of 0 nothing waits for it.
  if (handling.kind === 'handles' || handling.kind === 'unknown' || spec.graceSeconds === 0) return undefined;
  const { name, inspection, command } = container;
  const signal = `SIG${stopSignalOf(container)}`;
  const kill = `SIGKILL after the grace period of ${spec.graceSeconds}s`;
  const isQuiet = container.kind === 'main' && container.ports.length === 0 && !container.hasReadinessProbe;
  const isBeside = isQuiet && rolesOf(spec).applications.some((one) => one !== container) && !/^(app|main)$/.test(name);
  // What ships the last log lines of the application must not end together with it.
  const early = isBeside ? 'If the application needs it to its end, make it a native sidecar first. ' : '';
  const { kind, because } = handling;
  if (kind === 'depends' && (handling.advice === undefined || isJob(spec))) return undefined;
  const init = 'Handle the stop signal, or put an init such as tini in front of it.';
  const { advice = kind === 'ignores' ? init : `${execRemedy.text}.` } = handling;
  // What a script of a Job runs last seldom handles signals.
  const also = isJob(spec) && advice.includes('`exec`') ? ` ${init}` : '';
  const details = { ...at(container, command.command.length > 0 ? 'command' : 'args'), advice: early + advice + also };
  if (kind === 'ignores' && inspection?.kind === 'read') {
    const message = `PID 1 of ${name} (\`${inspection.command}\`) has no ${signal} handler: ${kill}`;
    return warning('no-signal-handler', message, details);
  }
  const first = spec.sharesProcesses ? 'the first process' : 'PID 1';
  const messages = {
    ignores: `${name} ignores ${signal} (${because}): ${kill}`,
    shell: `${first} of ${name} does not pass ${signal} on (${because}): ${kill}`,
    cuts: `${name} ends at once on ${signal}, and its application is cut off (${because})`,
    depends: `it is not visible here whether ${first} of ${name} passes ${signal} on (${because})`,
  };
  const finding = kind === 'ignores' || kind === 'shell' ? error : warning;
  return finding(kind === 'ignores' ? 'no-signal-handling' : 'shell-as-pid-1', messages[kind], details);
});

const unhandled = ofContainer((container) => {
  if (container.declaredStopSignal !== 'SIGKILL' && stopSignalOf(container) !== 'KILL') return undefined;
  const advice = 'Choose a signal that it handles, such as SIGTERM.';
  const message = `${container.name} is stopped with SIGKILL: it cannot finish anything`;
  return error('stop-signal-mismatch', message, { ...at(container, 'lifecycle', 'stopSignal'), advice });
});

/** Clusters drop the field unless ContainerStopSignals is on, and then refuse it without spec.os.name (KEP-4960). */
const droppedStopSignals = ofContainer((container) => {
  const { name, declaredStopSignal: declared } = container;
  if (declared === undefined || ['KILL', stopSignalOf(container)].includes(declared.slice(3))) return undefined;
  const message = `lifecycle.stopSignal ${declared} of ${name} counts only where the cluster has the feature ContainerStopSignals (off by default through 1.37) and spec.os.name is set: elsewhere it gets SIG${stopSignalOf(container)}`;
  return note('stop-signal-mismatch', message, at(container, 'lifecycle', 'stopSignal'));
});

export const stopRules = [
  ...[noGrace, impossibleHooks, longHooks, slowApplications],
  ...[signals, unhandled, droppedStopSignals],
];
