/** Findings about the kubelet and its node. */
import { millisecondsOf } from '../../model/assumptions.ts';
import { toClient } from '../../model/clock.ts';
import { heardSince } from '../../infer/arrival.ts';
import { askedAt } from '../../infer/around.ts';
import type { ContainerExit } from '../../infer/container.ts';
import { between } from '../../infer/estimate.ts';
import { isUnwritten } from '../../infer/tellable.ts';
import { isStart } from '../../infer/rounds.ts';
import type { StreamName } from '../../model/observation.ts';
import { isFinished } from '../../model/pod.ts';
import type { Finding } from '../../model/report.ts';
import { second } from '../../model/span.ts';
import type { Occurrence } from '../../model/trace.ts';
import type { Scene } from '../scene.ts';
import { mainsOf } from '../scene.ts';
import { exactSeconds, seconds } from '../words.ts';

const silence = 10 * second;

export const nodeFindings = (scene: Scene): Finding[] => [
  ...nodeSilent(scene),
  ...slowStart(scene),
  ...kubeletRestarted(scene),
  ...graceShortenedIgnored(scene),
];

/** No kubelet takes part in the end of an unscheduled or finished pod (SIGNALS.md trap 5). */
function hasKubelet({ exit }: Scene): boolean {
  const pod = exit.deletion.facts.first.value;
  return pod.spec.nodeName !== undefined && !isFinished(pod) && exit.deletion.grace > 0;
}

function nodeSilent(scene: Scene): Finding[] {
  const { trace, exit } = scene;
  if (!hasKubelet(scene)) return [];
  const { accepted, facts } = exit.deletion;
  const first = firstSign(scene);
  const listened = listenedUntil(scene);
  const until = Math.min(listened, first?.at ?? (trace.gone ? heardSince(trace, 'pod', trace.gone.at) : trace.now));
  const silent = until - accepted.client.hi;
  const notReady = scene.timeline.marks.find((mark) => mark.name === 'node-not-ready');
  const meanwhile = notReady !== undefined && (first === undefined || notReady.at.client.hi <= first.at + 1);
  if (silent < silence && !meanwhile) return [];
  const node = facts.first.value.spec.nodeName ?? 'the node';
  const isWhole = first && !first.isOld && first.at <= listened;
  const unheard = `the kubelet of ${node} gave no sign for ${isWhole ? '' : 'at least '}${exactSeconds(Math.max(0, silent))} after the deletion was accepted`;
  return [
    {
      code: 'node-silent',
      severity: 'warning',
      message:
        listened === -Infinity
          ? `${node} was NotReady, and what its kubelet did until then could not be heard`
          : `${unheard}${meanwhile ? `, and ${node} was NotReady` : ''}`,
      advice: `The grace counts only from when the kubelet acts. Look at the kubelet and the network of ${node}; a node that stays away keeps the pod Terminating until it returns or is tainted out-of-service.`,
      evidence: [facts.seenSeq, ...(first ? [first.seq] : []), ...(notReady?.at.evidence ?? [])],
    },
  ];
}

/**
 * Until when (client ms) silence tells something: an Event could be read, or the status tells whether the kubelet knows of the
 * deletion (SIGNALS.md §2 S3). -Infinity: never.
 */
function listenedUntil({ trace, exit }: Scene): number {
  const until = (stream: StreamName): number =>
    Math.min(
      ...trace.gaps.map(({ value }) => (value.stream === stream && value.to === undefined ? value.from : Infinity)),
    );
  const isTold = exit.deletion.facts.first.value.status.observedGeneration !== undefined;
  return Math.max(isUnwritten(trace) ? -Infinity : until('events'), isTold ? until('pod') : -Infinity);
}

/** `at`: client ms. `isOld`: it was there at the first look, and is no older than that. */
interface Sign {
  readonly at: number;
  readonly seq: number;
  readonly isOld?: boolean;
}

/**
 * What the kubelet was first seen to do after the deletion, by its arrival, or when it could have arrived had no stream been
 * cut; what a late first look found, by the earliest that it can have been. Where no Event can tell (a namespace that ends
 * takes none) the application and its probes do.
 */
function firstSign(scene: Scene): Sign | undefined {
  const { trace, exit } = scene;
  const heard = (stream: StreamName) => (fact: { at: number; seq: number }) => ({
    at: heardSince(trace, stream, fact.at),
    seq: fact.seq,
  });
  const signs: Sign[] = [
    ...[...exit.kubelet.killings].flatMap(([name, killings]) => killingSigns(scene, name, killings)),
    ...(trace.acknowledged ? [asOld(scene, heard('pod')(trace.acknowledged))] : []),
    ...(trace.terminal ? [trace.terminal].map(heard('pod')) : []),
    ...signsOfLife(scene).filter(({ seenAt }) => seenAt >= exit.deletion.facts.seenAt),
  ];
  return signs.sort((a, b) => a.at - b.at)[0];
}

/** An Event that a first look lists was there before it: its own stamp tells since when. */
function killingSigns({ trace, exit }: Scene, name: string, killings: readonly Occurrence[]): Sign[] {
  const since = exit.containers.find(({ spec }) => spec.name === name)?.stopping?.client.lo ?? -Infinity;
  // Who attaches may be told of the deletion before its own first look at the Events.
  const cameLate = exit.deletion.facts.underWay || trace.began?.value.mode === 'attach';
  return killings.map(({ at, seq, isOld }) => {
    const heard = heardSince(trace, 'events', at);
    return isOld && cameLate ? { at: Math.min(heard, since), seq, isOld } : { at: heard, seq };
  });
}

/** A status of the first look may be as old as the deletion. */
function asOld({ exit }: Scene, sign: Sign): Sign {
  const { underWay, seenSeq } = exit.deletion.facts;
  return underWay && sign.seq === seenSeq ? { ...sign, at: exit.deletion.accepted.client.lo, isOld: true } : sign;
}

/**
 * The application got its signal, or lost its readiness: the kubelet sent it, or probed it. A log also ends with the node.
 * A log that was opened late begins with lines that were written before.
 */
const signsOfLife = ({ trace, exit }: Scene): (Sign & { seenAt: number })[] =>
  [...trace.containers.values()].flatMap(({ log, readyLost }) => [
    ...log.signalLines.map(({ value, at, seq }) => {
      if (!exit.deletion.facts.underWay) return { at, seq, seenAt: at };
      const written = toClient(exit.kubelet.clock, { lo: value, hi: value }, at + 1);
      return { at: Math.min(at, written.lo), seq, seenAt: at, isOld: true };
    }),
    ...(readyLost ? [{ ...readyLost, seenAt: readyLost.at }] : []),
  ]);

function slowStart(scene: Scene): Finding[] {
  const { exit, trace } = scene;
  const first = exit.kubelet.noticed;
  const stopped = exit.containers.some((container) => container.stopping);
  if (!first || !stopped || !hasKubelet(scene)) return [];
  const delay = between(exit.deletion.accepted, first);
  if (delay.lo < 3 * second) return [];
  // That the kubelet had just started, and may have known before, can still be on its way.
  const isHeardOut = trace.gone !== undefined || trace.heard >= first.client.hi + millisecondsOf('delivery-lag');
  if (!isHeardOut) return [];
  const restart = restartUnderWay(scene);
  const why = restart
    ? `It had begun to restart ${restart.about.container ?? 'a container'}, whose probe had failed, and may have heeded that first`
    : 'It may have been pulling an image, running a postStart hook, or be busy';
  return [
    {
      code: 'slow-start',
      severity: 'info',
      message: `the kubelet began to stop containers ${seconds(delay)} after the deletion was accepted`,
      advice: `${why}; the grace counts from then.`,
      evidence: [
        ...new Set([...exit.deletion.accepted.evidence, ...first.evidence, ...(restart ? [restart.seq] : [])]),
      ],
    },
  ];
}

/** A container whose probe fails is stopped with the pod's grace, and the pod's worker does nothing else meanwhile. */
function restartUnderWay({ trace, exit }: Scene): Occurrence | undefined {
  const { facts, grace } = exit.deletion;
  const isUnderWay = ({ reason, message, time, seq }: Occurrence): boolean =>
    reason === 'Killing' &&
    / failed (?:liveness|startup) probe, /.test(message) &&
    seq < facts.seenSeq &&
    time.hi + grace * second >= askedAt(trace);
  return trace.events.findLast(isUnderWay);
}

/** Its grace counts anew from the second Killing (SIGNALS.md §2 "Kubelet restart", trap 36). */
function kubeletRestarted(scene: Scene): Finding[] {
  const { exit } = scene;
  const found = exit.containers.flatMap((container) => restartOf(scene, container));
  const [earliest] = found.sort((a, b) => a.first.time.lo - b.first.time.lo);
  if (!earliest) return [];
  const { name, first, started, last } = earliest;
  return [
    {
      code: 'kubelet-restarted',
      severity: 'warning',
      message: `the kubelet restarted during the deletion and began to stop ${name} again ${exactSeconds(last.time.lo - first.time.lo)} after the first time: its grace counts anew from there`,
      advice: 'Find out why the kubelet restarted; logs followed through it end early and preStop hooks run twice.',
      evidence: [first.seq, started.seq, last.seq],
    },
  ];
}

interface Restart {
  name: string;
  first: Occurrence;
  started: Occurrence;
  last: Occurrence;
}

/** It began twice with this container, and said in between that it had started; all by its own clock. */
function restartOf({ trace }: Scene, { spec, killings }: ContainerExit): Restart[] {
  const [first] = killings;
  const last = killings.at(-1);
  if (!first || !last || first === last) return [];
  const started = trace.events.find(
    (event) => isStart(event) && event.time.lo >= first.time.lo && event.time.hi <= last.time.hi,
  );
  return started ? [{ name: spec.name, first, started, last }] : [];
}

/** A second, shorter DELETE changes the API, not a running kill (SIGNALS.md trap 3). */
function graceShortenedIgnored(scene: Scene): Finding[] {
  const { trace, exit } = scene;
  const lowered = trace.graces.find(
    (one) => one.value.grace < exit.deletion.grace && one.seq !== trace.finalDelete?.seq,
  );
  const old = exit.deletion.grace;
  if (!lowered) return [];
  const kept = mainsOf(scene).find(
    (one) =>
      one.outcome === 'killed' &&
      one.stopping &&
      one.exit &&
      lowered.at < one.exit.at.client.lo &&
      between(one.stopping, one.exit.at).lo >= (old - 1) * second,
  );
  if (!kept?.stopping || !kept.kill) return [];
  return [
    {
      code: 'grace-shortened-ignored',
      severity: 'warning',
      message: `a later DELETE lowered the grace from ${old} s to ${lowered.value.grace} s, but the kill of ${kept.spec.name} was already running and came ${seconds(between(kept.stopping, kept.kill))} after it began`,
      advice: 'A second delete seldom shortens a running kill: ask for the short grace in the first one.',
      evidence: [...new Set([lowered.seq, ...kept.stopping.evidence, ...kept.kill.evidence])],
    },
  ];
}
