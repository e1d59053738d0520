/** The picture of a run over several pods: a lane for each pod, on one axis of wall-clock time, and the probes' lanes. */
import type { ProbeResult } from '../../infer/probes.ts';
import type { Interval, Timeline } from '../../infer/timeline.ts';
import type { Report } from '../../verdict/report.ts';
import { byTime } from '../report-tables.ts';
import { clockText, exactly } from '../time-text.ts';
import { phaseBar, pointOf, probeLane, stateBar, type Bar, type Lane, type Point } from './lanes.ts';
import { padded, pictureOf, row, ticks, type Picture, type Scale } from './timeline.ts';

/** Pods are in the order of their deletions. The axis counts from the first one. */
export function drawPods(reports: readonly Report[]): Picture {
  const ordered = byTime(reports);
  const scale = scaleOf(ordered.map(({ timeline }) => timeline));
  const lanes = [...ordered.map(podLane), ...probesOf(reports).map((probe) => probeLane(probe, scale.zero))];
  const axis = row('seconds', `after ${clockText(scale.zero, 1, 'utc')} UTC`, 'time axis', 36, ticks(scale));
  return pictureOf(lanes, scale, axis, 34, 17);
}

/** The phases of the pod and of the container that exited last, which decided how long it took. */
function podLane({ timeline, answer }: Report): Lane {
  const { pod, containers, phases, marks, trigger, zero } = timeline;
  const [slowest] = containers
    .filter(({ ran }) => ran)
    .sort((a, b) => (b.exit?.at.shown ?? Infinity) - (a.exit?.at.shown ?? Infinity));
  const name = pod.metadata.name;
  const withPodName = <T extends Bar | Point>(item: T): T => ({ ...item, title: `${name}: ${item.title}` });
  const isOnLane = (subject: string | undefined): boolean => subject === undefined || subject === slowest?.name;
  const done = marks.find((mark) => mark.name === 'containers-done')?.at;
  const { heldMs, note = '' } = trigger;
  const bars: Bar[] = [
    ...stateBar('accept', heldMs === undefined ? undefined : exactly(zero - heldMs), exactly(zero), note),
    ...phases
      .filter(({ name: phase, subject }) => isOnLane(subject) && phase !== 'replace' && phase !== 'route-removal')
      .map((phase) => phaseBar(phase, timeline)),
    ...stateBar('cleanup', slowest?.exit?.at, done, 'until the kubelet reported the exit'),
  ].map((bar) => ({ ...withPodName(bar), label: '', start: atShown(bar.start), end: atShown(bar.end) }));
  const points: Point[] = marks
    .filter((mark) => mark.name === 'kill' || mark.name === 'unrouted')
    .map((mark) => ({ ...withPodName(pointOf(mark, timeline)), at: atShown(mark.at) }));
  return { name, detail: answer.word, bars, points };
}

/** Among many pods a bar shows only its most likely position; its hover text still has the interval. */
const atShown = (at: Interval): Interval => ({ ...at, earliest: at.shown, latest: at.shown });

/** Every report contains the run's probes: of each target, take the result with most requests. */
function probesOf(reports: readonly Report[]): ProbeResult[] {
  const longest = new Map<string, ProbeResult>();
  for (const { timeline } of reports)
    for (const probe of timeline.probes)
      if ((longest.get(probe.target)?.sent ?? -1) < probe.sent) longest.set(probe.target, probe);
  return [...longest.values()].filter(({ via }) => via !== 'pod-proxy');
}

function scaleOf(timelines: readonly Timeline[]): Scale {
  const zero = Math.min(...timelines.map((timeline) => timeline.zero - (timeline.trigger.heldMs ?? 0)));
  const ends = timelines.flatMap(({ marks }) => marks.map(({ at }) => at.latest)).filter(Number.isFinite);
  return padded(zero, zero, Math.max(zero + 100, ...ends));
}
