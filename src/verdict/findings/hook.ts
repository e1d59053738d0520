/** Findings about preStop hooks. */
import type { PreStopExit, Timeline } from '../../infer/timeline.ts';
import type { HookKind } from '../../model/observe/container.ts';
import { second } from '../../model/span.ts';
import type { ContainerRule, ContainerRules } from '../finding.ts';
import { loweredGrace, loweredGraceText } from '../grace.ts';
import { lengthText } from '../length-text.ts';
import { containerSpec, graceText, longestGraceMs, ranContainers, signalName } from '../rule-input.ts';

export const hookRules: ContainerRules = {
  'prestop-failed': ofHook((_, { name }, preStop) => {
    const { kind, outcome, mayHaveDied } = preStop;
    if (outcome !== 'failed' && !mayHaveDied) return undefined;
    const perhaps = mayHaveDied ? `, by itself or because ${name} exited just then` : '';
    return {
      message:
        kind === 'tcpSocket'
          ? `the preStop hook of ${name} is a tcpSocket, which Kubernetes does not run: it fails at once`
          : `the preStop ${kind} hook of ${name} failed after ${took(preStop)}${perhaps}`,
      clause: `the preStop hook of ${name} failed`,
      advice: mayHaveDied
        ? `Nothing needs fixing if the hook ended because ${name} exited. Otherwise run the command of the hook with kubectl exec in a test copy of the pod.`
        : failedAdvice[kind],
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

const failedAdvice: Record<HookKind, string> = {
  exec: 'Correct the command of the hook: kubectl exec in a test copy of the pod shows why it fails (the API does not).',
  httpGet: 'Correct the request of the hook: kubectl exec in a test copy of the pod shows why it fails.',
  tcpSocket: 'Use sleep, exec or httpGet instead.',
  sleep: 'A kubelet older than 1.30 has sleep actions off by default: use an exec hook that runs sleep.',
};

const took = ({ length }: PreStopExit): string => (length ? lengthText(length) : '?');

/** How long the hook sleeps, s, if it does nothing else. */
const plannedSeconds = ({ pod }: Timeline, container: string, { sleepSeconds }: PreStopExit): number | undefined =>
  sleepSeconds ?? containerSpec(pod, container)?.lifecycle?.preStop?.exec?.seconds;
