/** Findings about how the containers ended. */
import { millisecondsOf } from '../../model/assumptions.ts';
import type { ContainerExit } from '../../infer/container.ts';
import { between } from '../../infer/estimate.ts';
import { shortestStop } from '../../infer/grace.ts';
import type { Finding } from '../../model/report.ts';
import { second, widthOf } from '../../model/span.ts';
import { graceAdvice, loweredGrace } from '../grace-advice.ts';
import type { Scene } from '../scene.ts';
import { graceWords, ranOf } from '../scene.ts';
import { exactSeconds, seconds } from '../words.ts';

export const exitFindings = (scene: Scene): Finding[] =>
  ranOf(scene).flatMap((container) => [
    ...killed(scene, container),
    ...unhandled(scene, container),
    ...nonzero(container),
    ...outOfMemory(container),
  ]);

/** What tells of its signal and of its end. */
export const evidenceOf = ({ exit, kill, stopping, signal }: ContainerExit): number[] => [
  ...new Set([
    ...(stopping?.evidence ?? []),
    ...(signal?.evidence ?? []),
    ...(kill?.evidence ?? []),
    ...(exit?.at.evidence ?? []),
  ]),
];

function killed(scene: Scene, container: ContainerExit): Finding[] {
  if (container.outcome !== 'killed') return [];
  const { name, kind } = container.spec;
  const after = afterSignal(scene, container);
  const evidence = evidenceOf(container);
  if (kind === 'ephemeral')
    return [
      {
        code: 'sidecar-killed',
        severity: 'warning',
        message: `debug container ${name} held the pod to the end of its grace and was killed${after}: a shell does not end on its stop signal`,
        advice: `Leave ${name} before the pod is deleted; it says nothing of the application's own exit.`,
        evidence,
      },
    ];
  if (kind === 'sidecar')
    return [
      {
        code: 'sidecar-killed',
        severity: 'warning',
        message: `sidecar ${name} was killed at the end of the grace${after}: sidecars share what the main containers leave of it`,
        advice: sidecarAdvice(scene, container),
        evidence,
      },
    ];
  return [
    {
      code: 'killed-at-grace',
      severity: 'error',
      message: `${name} did not exit within its grace${graceWords(scene)} and was killed${after} (exit 137)`,
      advice: graceAdvice(loweredGrace(scene), {
        usual: `Make ${name} exit sooner after its stop signal, or set terminationGracePeriodSeconds above what it really needs.`,
        faster: `make ${name} exit sooner after its stop signal`,
      }),
      evidence,
    },
  ];
}

/**
 * Where no hook and no turn held the signal up, the runtime was given the whole grace for it (SIGNALS.md §2 S8, S9): the kill
 * came no sooner, however wide the interval is that was seen, and as a rule at once.
 */
function afterSignal({ exit }: Scene, { spec, hook, signal, kill }: ContainerExit): string {
  if (!signal || !kill) return '';
  const seen = between(signal, kill);
  if (hook || spec.kind === 'sidecar') return ` ${seconds(seen)} after its stop signal`;
  const lo = Math.max(seen.lo, shortestStop(exit.kubelet));
  const span = { lo, hi: Math.max(lo, seen.hi) };
  return ` ${widthOf(span) <= second / 2 ? exactSeconds(lo) : seconds(span)} after its stop signal`;
}

/** One that ignores its signal uses up whatever grace it is given. */
function sidecarAdvice(scene: Scene, container: ContainerExit): string {
  const { name } = container.spec;
  if (isUnhandled(scene, container))
    return `Make ${name} react to its stop signal (see no-signal-handling): where it ignores that, a longer grace only makes the exit slower.`;
  return graceAdvice(loweredGrace(scene), {
    usual: `Let ${name} stop faster, or raise terminationGracePeriodSeconds by what it needs after the main containers.`,
    faster: `let ${name} stop faster`,
  });
}

/** Its log was followed from before the signal until the kill, with nothing missing in between. */
function wasHeard({ trace }: Scene, { spec, facts: { log }, signal, kill }: ContainerExit): boolean {
  if (!log.opened || !signal || !kill || log.opened.at > signal.client.hi) return false;
  const endedBefore = log.ended !== undefined && log.ended.at < kill.client.lo;
  const missed = trace.gaps.some(
    ({ value }) =>
      value.stream === 'logs' &&
      (value.container === undefined || value.container === spec.name) &&
      (value.to ?? Infinity) > signal.client.lo &&
      value.from < kill.client.hi,
  );
  // A line may be on its way for as long as a stream may be late, and the Event of a failed probe a little longer.
  const heardFor = trace.gone ? Infinity : trace.heard - kill.client.hi;
  const isLogOut = log.ended !== undefined || heardFor >= millisecondsOf('delivery-lag');
  const isProbeOut = heardFor >= millisecondsOf('delivery-lag') + millisecondsOf('event-lag');
  return isLogOut && isProbeOut && !endedBefore && !missed;
}

/** Only where the log was followed: without it there is no sign of life to miss. */
function isUnhandled(scene: Scene, container: ContainerExit): boolean {
  const { facts, signal, spec, outcome } = container;
  if (outcome !== 'killed' || spec.kind === 'ephemeral') return false;
  if (!signal || !wasHeard(scene, container)) return false;
  const spoke = facts.log.lastLine !== undefined && facts.log.lastLine.value > signal.node.lo;
  return !spoke && facts.readyLost === undefined && !probesFailed(scene, container);
}

function unhandled(scene: Scene, container: ContainerExit): Finding[] {
  const { spec } = container;
  if (!isUnhandled(scene, container)) return [];
  // Some shells replace themselves with the last command of the line: bash always does so with a single one, dash never.
  const shell = spec.container.shell
    ? ' Its PID 1 may be a shell with a command line, which seldom passes signals on.'
    : '';
  return [
    {
      code: 'no-signal-handling',
      severity: 'warning',
      message: `${spec.name} showed no reaction to its stop signal: no log line, no change of readiness, until it was killed`,
      advice: `Check that the signal reaches the application: PID 1 without a handler ignores it.${shell} Start it with exec, set a trap, or use an init such as tini.`,
      evidence: evidenceOf(container),
    },
  ];
}

function probesFailed({ trace }: Scene, { spec, signal, kill }: ContainerExit): boolean {
  const from = signal?.node.hi ?? Infinity;
  // A probe that may have failed before the kill is a change: the finding is for what certainly showed nothing.
  const to = kill?.node.hi ?? -Infinity;
  return trace.events.some(
    (event) =>
      event.reason === 'Unhealthy' && event.about.container === spec.name && event.time.lo > from && event.time.lo < to,
  );
}

function nonzero(container: ContainerExit): Finding[] {
  if (container.outcome !== 'failed' || container.exit?.code === undefined) return [];
  const { name } = container.spec;
  // Not "before the grace ended": behind a hook that spent it all the kubelet gives 2 s more (SIGNALS.md §2 S8).
  const early =
    container.exit.code === 137 ? `, before the kubelet's SIGKILL could have come: ${earlyKill(container)}` : '';
  // SIGNALS.md §5 "Exit codes": it was not the process whose code this is.
  const starved = container.exit.reason === 'OOMKilled' && container.exit.code !== 137;
  return [
    {
      code: 'exit-nonzero',
      severity: 'error',
      message: `${name} exited with code ${container.exit.code}${early}${starved ? ' (OOMKilled: a process in it was killed for memory)' : ''}`,
      advice: starved
        ? `Raise the memory limit of ${name}, or need less while shutting down.`
        : `Look at the last lines of ${name}: a clean shutdown exits with 0, or with 128 plus the signal's number.`,
      evidence: evidenceOf(container),
    },
  ];
}

/** The API seldom tells the stop signal, and never an image's STOPSIGNAL (SIGNALS.md §2 S8): that may be SIGKILL itself. */
const earlyKill = ({ signal }: ContainerExit): string =>
  signal?.name === undefined
    ? 'its own doing, somebody else sent SIGKILL, or SIGKILL is its stop signal (the STOPSIGNAL of its image)'
    : 'its own doing, or somebody else sent SIGKILL';

function outOfMemory(container: ContainerExit): Finding[] {
  const { outcome, signal, stopping } = container;
  if (!isForMemory(container)) return [];
  const { name } = container.spec;
  const asked = stopping ?? signal;
  const message =
    outcome === 'oom'
      ? `${name} was killed for memory ${asked ? 'while it was exiting' : 'when the pod was being deleted: nothing shows that it had been asked to stop by then'}`
      : `${name} was killed, for memory or at the end of its grace: it cannot be told which (OOMKilled stays from any earlier kill of one of its processes, and its end fits that of the grace)`;
  return [
    {
      code: 'oom-on-exit',
      severity: 'error',
      message,
      advice: `Where shutting down takes ${name} more memory than its limit, raise resources.limits.memory or flush in smaller steps${outcome === 'oom' ? '' : '; otherwise make it exit sooner after its stop signal'}.`,
      evidence: evidenceOf(container),
    },
  ];
}

const isForMemory = ({ outcome, exit }: ContainerExit): boolean =>
  outcome === 'oom' || (outcome === 'unknown' && exit?.reason === 'OOMKilled' && exit.code === 137);
