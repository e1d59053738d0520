/** Findings about preStop hooks. */
import type { ContainerTimeline, PreStopExit } from '../../infer/timeline.ts';
import type { HookKind } from '../../model/observe/container.ts';
import type { FindingDraft } from '../finding.ts';
import { graceAdvice, isForced, loweredGrace } from '../grace.ts';
import { lengthText } from '../length-text.ts';
import { containerSpec, graceText, longestGrace, ranIn, signalName, type RuleInput } from '../rule-input.ts';

export const hookFindings = (input: RuleInput): FindingDraft[] =>
  ranIn(input).flatMap((container) => {
    const { preStop } = container;
    if (!preStop || preStop.provisional) return [];
    return [...failed(container, preStop), ...cutOff(input, container, preStop), ...heavy(input, container, preStop)];
  });

const evidenceOf = ({ start, end }: PreStopExit): number[] => [
  ...new Set([...start.evidence, ...(end?.evidence ?? [])]),
];

const took = ({ length }: PreStopExit): string => (length ? lengthText(length) : '?');

function failed({ name }: ContainerTimeline, preStop: PreStopExit): FindingDraft[] {
  const { kind, outcome, mayHaveDied } = preStop;
  if (outcome !== 'failed' && !mayHaveDied) return [];
  const invalid = kind === 'tcpSocket';
  const perhaps = mayHaveDied ? `, by itself or because ${name} exited just then` : '';
  return [
    {
      code: 'prestop-failed',
      severity: 'warning',
      container: name,
      message: invalid
        ? `the preStop hook of ${name} is a tcpSocket, which Kubernetes does not run: it fails at once`
        : `the preStop ${kind} hook of ${name} failed after ${took(preStop)}${perhaps}`,
      clause: `the preStop hook of ${name} failed`,
      advice: mayHaveDied
        ? 'A hook that makes the application exit and waits for that dies with it, which does no harm. Otherwise run it by hand with kubectl exec.'
        : failedAdvice[kind],
      evidence: evidenceOf(preStop),
    },
  ];
}

const failedAdvice: Record<HookKind, string> = {
  exec: 'Run the hook by hand with kubectl exec: the API does not say why it failed. SIGTERM followed at once, as if there were no hook.',
  httpGet:
    'Request its path from inside the pod with kubectl exec: the API does not say why it failed. SIGTERM followed at once, as if there were no hook.',
  tcpSocket: 'Use sleep, exec or httpGet instead.',
  sleep:
    'The kubelet of this node may be older than 1.30, which has the sleep action on by default: use exec with sleep there.',
};

function cutOff(input: RuleInput, container: ContainerTimeline, preStop: PreStopExit): FindingDraft[] {
  const { name } = container;
  const { kind, outcome, outlasted } = preStop;
  const planned = containerSpec(input.timeline.pod, name)?.lifecycle?.preStop?.exec?.seconds;
  const sleepSeconds = preStop.sleepSeconds ?? planned;
  if (outcome !== 'cut-off') return [];
  const wanted = sleepSeconds === undefined ? '' : ` (it wanted ${sleepSeconds}s)`;
  const left = outlasted
    ? `, though ${name} had already exited`
    : container.stopSignal
      ? `; ${name} was left with 2s after ${signalName(container)}`
      : '';
  const least = sleepSeconds === undefined ? 'what hook and drain need together' : `${sleepSeconds}s plus the drain`;
  return [
    {
      code: 'prestop-cut-off',
      severity: isForced(input) ? 'warning' : 'error',
      container: name,
      message: `the preStop ${kind} hook of ${name} was still running when the ${graceText(input)} ended${wanted}${left}`,
      clause: `preStop was still running when the ${graceText(input)} ended`,
      why:
        sleepSeconds === undefined
          ? undefined
          : `preStop sleeps ${sleepSeconds}s, the grace period is ${input.timeline.grace.effectiveSeconds}s`,
      advice: graceAdvice(loweredGrace(input), {
        usual: `Shorten the hook, or set terminationGracePeriodSeconds above ${least}.`,
        faster: 'shorten the hook',
        needs: sleepSeconds,
      }),
      needsGrace: true,
      evidence: evidenceOf(preStop),
    },
  ];
}

const heavyShare = 0.5;

function heavy(input: RuleInput, container: ContainerTimeline, preStop: PreStopExit): FindingDraft[] {
  const { length, outcome } = preStop;
  if (!length || (outcome !== 'completed' && outcome !== 'failed')) return [];
  if (length.min < heavyShare * longestGrace(input)) return [];
  const { name } = container;
  const grace = `${input.timeline.grace.effectiveSeconds}s`;
  return [
    {
      code: 'prestop-heavy',
      severity: 'warning',
      container: name,
      message: `the preStop hook of ${name} took ${took(preStop)} of the ${graceText(input)}${container.stopSignal ? `, before ${signalName(container)} was sent` : ''}`,
      clause: `preStop took ${took(preStop)} of ${grace} and left ${name} ${leftText(input, length.shown)}`,
      advice: graceAdvice(loweredGrace(input), {
        usual:
          'The grace period counts from the start of the hook: raise terminationGracePeriodSeconds by the length of the hook, or shorten it.',
        faster: 'shorten the hook',
        needs: length.min / 1000 / heavyShare,
      }),
      cost: length.shown,
      needsGrace: true,
      evidence: evidenceOf(preStop),
    },
  ];
}

/** The kubelet takes whole seconds of the hook off the grace period, and never leaves less than 2 s (SIGNALS.md §2 S8). */
function leftText({ timeline: { grace } }: RuleInput, hook: number): string {
  const left = grace.effectiveSeconds - Math.floor(hook / 1000);
  return left <= 2 ? "2s (the kubelet's minimum)" : `${left}s`;
}
