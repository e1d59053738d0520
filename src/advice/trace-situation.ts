/** The trace of an exit → its Situation, with what was measured, and its Problems, which are the verdict's findings. Pure. */
import type { V1Service } from '@kubernetes/client-node';
import type { ContainerTimeline, Timeline } from '../infer/timeline.ts';
import type { Trace } from '../model/trace.ts';
import { asObject } from '../model/observe/read.ts';
import { statusOf } from '../model/pod.ts';
import type { JudgedFinding, JudgedVerdict } from '../verdict/finding.ts';
import { boundOf } from '../verdict/length-text.ts';
import { lossOf } from '../verdict/loss.ts';
import { containerSpec, ignoresItsSignal } from '../verdict/rule-input.ts';
import type { Capacity } from './capacity.ts';
import type { MeasuredContainer } from './container-spec.ts';
import { isUnhandled, knownAdvice } from './exit-advice.ts';
import { serviceOf, type Neighbours } from './neighbours.ts';
import type { Problem } from './problem.ts';
import { situationOf, templatePaths, type Situation } from './situation.ts';

/** The exit that a Situation is read from. */
interface Exit {
  readonly trace: Trace;
  readonly timeline: Timeline;
  readonly verdict: JudgedVerdict;
}

export function situationOfTrace({ trace, timeline }: Pick<Exit, 'trace' | 'timeline'>): Situation {
  const { pod, workload, grace } = timeline;
  const { kind, name, replicas } = workload ?? { kind: 'Pod', name: pod.metadata.name };
  const metadata = { name, namespace: pod.metadata.namespace };
  const path = templatePaths[kind] ?? [];
  const { spec } = asObject([...path, 'spec'].reduceRight<object>((inner, key) => ({ [key]: inner }), pod.spec));
  const object = {
    kind,
    metadata,
    spec: { ...asObject(spec), replicas },
    status: { desiredNumberScheduled: replicas },
  };
  const around: Neighbours = { services: [], budgets: [], unread: [], mayHaveOtherServices: false };
  const situation = situationOf(object, around, grace.effectiveSeconds, path);
  return {
    ...situation,
    subject: { kind, ...metadata },
    // Who served meanwhile is measured.
    isCustom: false,
    containers: situation.containers.flatMap((container) => {
      const exit = timeline.containers.find((one) => one.name === container.name);
      return exit?.ran ? { ...container, measured: measuredOf(exit, grace.effectiveSeconds) } : [];
    }),
    capacity: withoutTemplate(situation.capacity, kind),
    services: [...trace.services.values()].map((service) => serviceOf(service as unknown as V1Service)),
    measured: { otherReady: otherReadyOf(timeline), hookSeconds: lossOf(timeline)?.preStopSeconds },
  };
}

/** A trace has neither volumes nor the strategy of the workload. */
const withoutTemplate = (capacity: Capacity, kind: string): Capacity => ({
  ...capacity,
  rollout: undefined,
  ownData: capacity.ownData === 'no' && kind === 'StatefulSet' ? 'unknown' : capacity.ownData,
});

function otherReadyOf({ endpoints }: Timeline): number | undefined {
  const ready = endpoints.flatMap(({ wasReady, otherReady }) => (wasReady ? otherReady : []));
  return ready.length > 0 ? Math.min(...ready) : undefined;
}

/** An exit by a crash shows nothing about the time that a shutdown needs. Hook and drain are parts of one length. */
function measuredOf({ preStop, drain, outcome, exit }: ContainerTimeline, graceSeconds: number): MeasuredContainer {
  const hookSeconds = preStop?.sleepSeconds ?? (preStop?.length && boundOf(preStop.length) / 1000);
  if (outcome === 'failed' || outcome === 'oom') return { hookSeconds, wasKilled: false };
  const wasKilled = outcome === 'killed';
  const whole = exit && preStop ? (exit.at.latest - preStop.start.earliest) / 1000 : Infinity;
  const drained = drain && Math.min(boundOf(drain) / 1000, Math.max(0, whole - (hookSeconds ?? 0)));
  return { hookSeconds, wasKilled, drainSeconds: wasKilled ? Math.max(drained ?? 0, graceSeconds) : drained };
}

/** What happened, as Problems. Those with `advice` are for a person; remedies.ts decides about the others. */
export function problemsOfExit(exit: Exit): Problem[] {
  const { timeline } = exit;
  const { outcome, findings } = exit.verdict;
  const { trigger, workload } = timeline;
  // No spec helps against a forced deletion, or keeps a pod whose namespace or owner is deleted.
  const isUnfixable =
    outcome === 'forced' || workload?.replicas === 0 || /^(namespace-deletion|owner-deleted)$/.test(trigger.kind);
  return findings.flatMap((finding): Problem[] => {
    const { code, severity, container, message, advice } = finding;
    const problem: Problem = { code, severity, container, message, path: [] };
    if (code === 'last-endpoint' || code === 'no-ready-endpoint') {
      const isSaid = (code === 'no-ready-endpoint') !== (trigger.kind === 'rollout') || trigger.kind === 'scale-down';
      return isUnfixable || severity === 'info' || isSaid ? [] : [problem];
    }
    if (code === 'drain-race') return isUnfixable ? [] : [{ ...problem, severity: 'warning' }];
    if (code === 'requests-lost') {
      const isSized = ['sent-too-late', 'no-ready-backend'].includes(lossOf(timeline)?.cause ?? '');
      return isUnfixable || (!isSized && advice === undefined) ? [] : [{ ...problem, advice }];
    }
    if (code === 'killed-at-grace' || code === 'no-signal-handling') return [signalProblem(exit, finding)];
    // Without advice, the spec's grace period itself was too short.
    const isForGrace = /^(prestop-cut-off|prestop-heavy|grace-nearly-spent)$/.test(code);
    return isUnfixable && isForGrace && advice === undefined ? [] : [{ ...problem, advice }];
  });
}

/** A kill of an application that reacted is a matter of the grace period, and any other one of its signal. */
function signalProblem({ timeline }: Exit, { code, severity, container, message, advice }: JudgedFinding): Problem {
  const isStarting = container !== undefined && wasStarting(timeline, container);
  const starting = `SIGTERM came within ${startingSeconds}s of the start of ${container}, perhaps while its start script was PID 1: an init such as tini as PID 1, or a trap in the script, ends it then.`;
  const isForSignal = timeline.containers.some((one) => one.name === container && isUnhandled(timeline, one));
  const about = { severity, container, message, path: [], advice: isStarting ? starting : advice };
  return { ...about, code: isStarting || isForSignal ? 'no-signal-handling' : code };
}

/** Less than this after its start, PID 1 may still be the script that starts the application. */
const startingSeconds = 10;

/** Not if it passed its readiness probe, or if its command shows what the signal did: a shell that stays PID 1 drops it. */
function wasStarting(timeline: Timeline, name: string): boolean {
  const [status, spec] = [statusOf(timeline.pod, name), containerSpec(timeline.pod, name)];
  const container = timeline.containers.find((one) => one.name === name);
  const wasReady = status?.ready === true && spec?.readinessProbe !== undefined;
  if (wasReady || spec?.shell || spec?.handlesTerm || !container?.stopSignal || !container.drain) return false;
  if (ignoresItsSignal(timeline, container) || knownAdvice(timeline, container)) return false;
  return container.stopSignal.shown - Date.parse(status?.state.running?.startedAt ?? '') < startingSeconds * 1000;
}
