/** Findings about preStop hooks, and about how the containers ended. */
import type { PreStopExit, Timeline, ContainerTimeline } from '../../infer/timeline.ts';
import { second } from '../../model/span.ts';
import words from '../data/words.json' with { type: 'json' };
import type { ContainerRule, ContainerRules } from '../finding.ts';
import {
  loweredGrace,
  loweredGraceText,
  containerSpec,
  graceText,
  longestGraceMs,
  ranContainers,
  signalName,
  ignoresItsSignal,
  stopSignalName,
} from '../rule-input.ts';
import { lengthText, afterText } from '../words.ts';
import { controllerOf, runtimeOf } from '../../model/pod.ts';
import { knownEnd } from '../../programs/stop-behaviour.ts';

export const containerRules: ContainerRules = {
  'prestop-failed': ofHook(({ timeline }, { name }, preStop) => {
    const { kind, outcome, mayHaveDied } = preStop;
    if (outcome !== 'failed' && !mayHaveDied) return undefined;
    const perhaps = mayHaveDied ? `, by itself or because ${name} exited just then` : '';
    return {
      message:
        kind === 'tcpSocket'
          ? `the preStop hook of ${name} is a tcpSocket, which Kubernetes does not run: it fails at once`
          : `the preStop ${kind} hook of ${name} failed after ${took(preStop)}${perhaps}`,
      clause: `the preStop hook of ${name} failed`,
      advice: isLostSleep(timeline, { name, preStop })
        ? undefined
        : mayHaveDied
          ? `Nothing needs fixing if the hook ended because ${name} exited. Otherwise run the command of the hook with kubectl exec in a test copy of the pod.`
          : words.failedHooks[kind],
    };
  }),

  'prestop-cut-off': ofHook((input, container, preStop) => {
    const { kind, outcome, outlasted } = preStop;
    if (outcome !== 'cut-off') return undefined;
    const { timeline } = input;
    const { name, stopSignal } = container;
    const seconds = plannedSeconds(timeline, name, preStop);
    const planned = seconds === undefined ? undefined : `sleeps ${seconds}s`;
    const wanted = planned ? ` (it ${planned})` : '';
    const signalled = stopSignal ? `; ${name} had only 2s after ${signalName(container)}` : '';
    const left = outlasted ? `, though ${name} had already exited` : signalled;
    return {
      // A deletion that asked for 0 s shows nothing about how long hook and drain should be.
      severity: loweredGrace(input)?.asked === 0 ? 'warning' : 'error',
      message: `the preStop ${kind} hook of ${name} was still running when the ${graceText(timeline)} ended${wanted}${left}`,
      clause: `${ranContainers(timeline).length > 1 ? `the preStop hook of ${name}` : 'preStop'} was still running when the ${graceText(timeline)} ended`,
      why:
        loweredGraceText(input) ??
        (planned && `preStop ${planned}, the grace period is ${timeline.grace.effectiveSeconds}s`),
    };
  }),

  'prestop-heavy': ofHook((input, container, preStop) => {
    const { name, stopSignal } = container;
    const { length, outcome } = preStop;
    const { timeline } = input;
    if (!length || (outcome !== 'completed' && outcome !== 'failed')) return undefined;
    // A sleep never ends early, and every hook takes some ms to start.
    const slept = outcome === 'completed' ? second * (plannedSeconds(timeline, name, preStop) ?? 0) : 0;
    if (Math.max(slept, length.min - second / 2) <= longestGraceMs(timeline) / 2) return undefined;
    const before = stopSignal ? `, before ${signalName(container)} was sent` : '';
    const seconds = timeline.grace.effectiveSeconds;
    // The kubelet subtracts whole seconds and leaves 2 s (SIGNALS.md §2 S8).
    const left = Math.max(2, seconds - Math.floor(Math.max(length.min, slept) / second));
    return {
      message: `the preStop hook of ${name} took ${took(preStop)} of the ${graceText(timeline)}${before}`,
      clause: `preStop took ${took(preStop)} of ${seconds}s and left ${name} at most ${left}s`,
      why: loweredGraceText(input),
      delayMs: length.shown,
    };
  }),

  'killed-at-grace': (input, container) => {
    const { name, kind, outcome, probable, reaction, drain } = container;
    if (outcome !== 'killed' || (kind !== 'container' && kind !== 'init')) return undefined;
    const length = drain ? ` ${lengthText(drain).replace('≤', 'up to ')} after ${signalName(container)}` : '';
    const lowered = loweredGraceText(input);
    return {
      severity: 'error',
      message: `${name} was ${probable ? 'probably ' : ''}SIGKILLed${afterSignal(container)}, when its ${graceText(input.timeline)} ended (exit 137)`,
      clause: [`${name} was still running${length}`, lowered ?? []].flat().join('; '),
      why: (probable && lowered) || (reaction === 'none' ? undefined : shellText(input.timeline, container)),
    };
  },

  /** Only for containers that do not decide the outcome. */
  'sidecar-killed': ({ timeline }, container) => {
    const { name, kind, outcome, probable } = container;
    if (outcome !== 'killed' || kind === 'container' || kind === 'init') return undefined;
    const label = kind === 'sidecar' ? 'sidecar' : 'debug container';
    const clause = `${label} ${name} was ${probable ? 'probably ' : ''}SIGKILLed${afterSignal(container)}`;
    return {
      message: `${clause}, when the ${graceText(timeline)} ended`,
      clause,
      // A person started it, so no manifest has it.
      advice: kind === 'ephemeral' ? `End the program of ${name} before the pod is deleted.` : undefined,
    };
  },

  /** Only if the container's log was followed: otherwise a reaction would not have been seen. */
  'no-signal-handling': ({ timeline }, container) => {
    const { name, reaction, drain } = container;
    if (reaction !== 'none') return undefined;
    const signal = signalName(container);
    const length = drain ? ` for ${lengthText(drain).replace('≤', 'up to ')}` : '';
    const silence = `${name} showed no reaction to ${signal}${length}`;
    const unseen = `no log line${containerSpec(timeline.pod, name)?.readinessProbe ? ' and no readiness change' : ''}`;
    return {
      message: `${silence}: ${unseen} until SIGKILL`,
      // Silence alone does not prove it: an application may work towards its exit and print nothing.
      clause: ignoresItsSignal(timeline, container) ? `${name} ignored ${signal}${length}` : silence,
      why: [`${unseen} of ${name} after ${signal}`, shellText(timeline, container) ?? []].flat().join('; '),
    };
  },

  'exit-nonzero': ({ timeline }, container) => {
    const { name, outcome, exit, kind } = container;
    if (outcome !== 'failed' || exit?.code === undefined) return undefined;
    const is137 = exit.code === 137;
    const early = `${afterSignal(container)}${is137 ? ", before the kubelet's SIGKILL was due" : ''}`;
    const isOomKilled = exit.reason === 'OOMKilled';
    // CRI-O before 1.36.0 may lose the code of a very fast exit (cri-o commit 88e8f422b5).
    const isLost = exit.code === 255 && runtimeOf(timeline.pod) === 'cri-o';
    const lost = isLost ? ' (its real code may be lost: CRI-O before 1.36 stores 255 for a very fast exit)' : '';
    const label = kind === 'sidecar' ? `sidecar ${name}` : name;
    return {
      // A sidecar's exit code does not decide the outcome.
      severity: kind === 'sidecar' || kind === 'ephemeral' ? 'warning' : 'error',
      message: `${label} exited with code ${exit.code}${lost}${early}${isOomKilled ? ' (OOMKilled: one of its processes ran out of memory)' : ''}${is137 ? `: ${earlyKillText(container)}` : ''}`,
      clause: `${label} exited ${exit.code}${lost}${early}`,
      why: is137 ? `exit 137 came too early for the kubelet's SIGKILL: ${earlyKillText(container)}` : undefined,
      advice: isOomKilled
        ? `Raise the memory limit of ${name}, or use less memory: this may have happened before the shutdown.`
        : `Look at the last log lines of ${name}${controllerOf(timeline.pod)?.kind === 'Job' ? '' : ": a clean shutdown exits with 0, or with 128 plus the signal's number"}.`,
    };
  },

  'oom-on-exit': (_, container) => {
    const { name, outcome, exit, stopSignal } = container;
    const isUncertain = outcome === 'unknown' && exit?.reason === 'OOMKilled' && exit.code === 137;
    if (outcome !== 'oom' && !isUncertain) return undefined;
    const when = stopSignal ? 'while it was shutting down' : 'during the deletion, perhaps before its stop signal';
    return {
      severity: 'error',
      message: isUncertain
        ? `${name} was SIGKILLed, either for lack of memory or at the end of its grace period: the time fits both, and the reason OOMKilled may come from an earlier process of ${name}`
        : `${name} was OOMKilled ${when}`,
      clause: isUncertain
        ? `${name} was SIGKILLed, either for lack of memory or at the end of its grace period`
        : `${name} ran out of memory${afterSignal(container)}`,
      advice: `If ${name} needs more memory than its limit to shut down, raise resources.limits.memory, or flush in smaller steps.`,
    };
  },

  /** Any process of the container sets the reason OOMKilled, whatever PID 1 exits with (SIGNALS.md §5 "Exit codes"). */
  'oom-in-container': (_, { name, outcome, exit }) => {
    if (exit?.reason !== 'OOMKilled' || (outcome !== 'completed' && outcome !== 'signalled')) return undefined;
    return {
      message: `a process of ${name} was OOMKilled, though ${name} itself exited ${exit.code}`,
      clause: `a process of ${name} was OOMKilled`,
      advice: `Raise resources.limits.memory of ${name}: one of its processes needs more, while running or while shutting down.`,
    };
  },

  /** Exited in time, but hook and drain together took at least three quarters of the grace period. */
  'grace-nearly-spent': (input, container) => {
    const { trace, timeline } = input;
    const { name, kind, graceUsed, pastGrace, preStop } = container;
    const used = leastUsed(container);
    if (used === undefined || !(used >= 0.75 * longestGraceMs(timeline))) return undefined;
    if (pastGrace && preStop?.outcome === 'cut-off') return undefined;
    // The hook may still turn out to have been cut off.
    if (preStop?.outcome === 'unknown' && !trace.gone) return undefined;
    const grace = graceText(timeline);
    const length = kind !== 'sidecar' && graceUsed ? graceUsed : { min: used, max: used, shown: used };
    const clause = `${name} used ${lengthText(length)} of its ${grace}`;
    return {
      message: pastGrace
        ? `${name} exited ${lengthText(pastGrace)} past its ${grace} (not killed)`
        : `${clause}: a slower shutdown will be SIGKILLed`,
      clause,
      why: loweredGraceText(input),
    };
  },
};

/** A rule about a hook whose end is final; its finding cites the hook. */
function ofHook(
  rule: (...args: [...Parameters<ContainerRule>, PreStopExit]) => ReturnType<ContainerRule>,
): ContainerRule {
  return (input, container) => {
    const { preStop } = container;
    const found = preStop && !preStop.provisional ? rule(input, container, preStop) : undefined;
    return found && { ...found, evidence: [preStop?.start.evidence, preStop?.end?.evidence] };
  };
}

const took = ({ length }: PreStopExit): string => (length ? lengthText(length) : '?');

/** How long the hook sleeps, s, if it does nothing else. */
const plannedSeconds = ({ pod }: Timeline, container: string, { sleepSeconds }: PreStopExit): number | undefined =>
  sleepSeconds ?? containerSpec(pod, container)?.lifecycle?.preStop?.exec?.seconds;

/** Its hook is only a sleep and failed at once: what it runs is missing, and nothing else but the time is lost. */
export const isLostSleep = ({ pod }: Timeline, { name = '', preStop }: Partial<ContainerTimeline>): boolean =>
  (preStop?.outcome === 'failed' || preStop?.mayHaveDied === true) &&
  (preStop.length?.min ?? Infinity) < second &&
  containerSpec(pod, name)?.lifecycle?.preStop?.exec?.seconds !== undefined;

const afterSignal = (container: ContainerTimeline): string =>
  container.drain ? afterText(lengthText(container.drain), signalName(container)) : '';

function shellText(timeline: Timeline, container: ContainerTimeline): string | undefined {
  if (ignoresItsSignal(timeline, container)) return 'its command ignores SIGTERM (`trap "" TERM`)';
  const spec = containerSpec(timeline.pod, container.name);
  if (spec?.handlesTerm && container.stopSignal?.isPerhapsOther)
    return 'its command handles SIGTERM, and nothing shows that it came: its image may set another STOPSIGNAL';
  if (spec?.handlesOther) return 'its command handles other signals, not SIGTERM: its image decides which one comes';
  if (spec?.shell) return 'its PID 1 may be a shell, which rarely forwards signals';
  return stopSignalName(container) && knownEnd(spec ?? {}, stopSignalName(container), 137)?.because;
}

/**
 * The API rarely names the stop signal, and never an image's STOPSIGNAL, which may be SIGKILL (SIGNALS.md §2 S8). containerd
 * before 2.3.0 may report a kill for memory as Error (containerd commit aa3c50792).
 */
const earlyKillText = ({ stopSignal, exit }: ContainerTimeline): string => {
  const memory = exit?.reason === 'Error' ? ', a kill for memory that the runtime did not report' : '';
  const image = stopSignal?.signal === undefined ? " or as its image's STOPSIGNAL" : '';
  return `its own exit code${memory}, or a SIGKILL from another source${image}`;
};

/** A lower bound, ms. For a sidecar only its own hook and drain count, not its wait for the others. */
function leastUsed({ kind, outcome, exit, graceUsed, drain, preStop }: ContainerTimeline): number | undefined {
  if (exit?.code === undefined || /^(killed|oom|unknown)$/.test(outcome)) return undefined;
  if (kind === 'sidecar') return drain && drain.min + (preStop?.length?.min ?? 0);
  return graceUsed?.min;
}
