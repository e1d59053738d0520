/** Which lane of the picture each phase and mark belongs to. */
import type { ExitReport, Mark, MarkName, Phase, PhaseName } from '../model/report.ts';

export type LaneKind = 'api' | 'endpoint' | 'container' | 'node' | 'replacement' | 'requests';

export interface Lane {
  readonly kind: LaneKind;
  /** The container, slice, node or pod; for the API object the pod's own name. */
  readonly name: string;
  /** What a reader may want to know beside the name: `sidecar`, `Service checkout`, `killed`. */
  readonly detail: string;
  readonly phases: Phase[];
  readonly marks: Mark[];
}

/** The lanes of a report from top to bottom; those with nothing on them are left out, containers excepted. */
export function lanesOf(report: ExitReport): Lane[] {
  const lanes = [
    lane('api', report.pod.name, 'API object'),
    ...report.endpoints.map(({ slice, service }) =>
      lane('endpoint', slice, service ? `Service ${service}` : 'endpoints'),
    ),
    ...report.containers.map(({ name, kind, outcome }) =>
      lane('container', name, kind === 'container' ? outcome : `${kind}, ${outcome}`),
    ),
    ...(report.pod.node === undefined ? [] : [lane('node', report.pod.node, 'node')]),
    ...(report.replacement ? [lane('replacement', report.replacement.name, 'replacement')] : []),
  ];
  for (const phase of report.phases) laneFor(lanes, report, phaseLanes[phase.name], phase.subject).phases.push(phase);
  for (const mark of report.marks) laneFor(lanes, report, markLanes[mark.name], mark.subject).marks.push(mark);
  return lanes.filter(({ kind, phases, marks }) => kind === 'container' || phases.length + marks.length > 0);
}

const phaseLanes: Record<PhaseName, LaneKind> = {
  accept: 'api',
  notice: 'api',
  'route-removal': 'endpoint',
  prestop: 'container',
  'sidecar-wait': 'container',
  drain: 'container',
  overtime: 'container',
  cleanup: 'api',
  finalize: 'api',
  replace: 'replacement',
};

const markLanes: Record<MarkName, LaneKind> = {
  requested: 'api',
  accepted: 'api',
  acknowledged: 'api',
  unrouted: 'endpoint',
  'endpoint-removed': 'endpoint',
  stopping: 'container',
  'prestop-ended': 'container',
  'stop-signal': 'container',
  kill: 'container',
  exited: 'container',
  'containers-done': 'api',
  'final-delete': 'api',
  finalizing: 'api',
  removed: 'api',
  'replacement-created': 'replacement',
  'replacement-scheduled': 'replacement',
  'replacement-started': 'replacement',
  'replacement-ready': 'replacement',
  'node-not-ready': 'node',
  'node-ready': 'node',
  'ready-lost': 'container',
  'first-failure': 'requests',
  'last-failure': 'requests',
};

const lane = (kind: LaneKind, name: string, detail: string): Lane => ({ kind, name, detail, phases: [], marks: [] });

/** The subject decides; without one the only lane of its kind, else the object's own. Unknown subjects get a lane. */
function laneFor(lanes: Lane[], report: ExitReport, kind: LaneKind, subject: string | undefined): Lane {
  const ofKind = lanes.filter((candidate) => candidate.kind === kind);
  const slice = report.endpoints.find(({ service }) => service !== undefined && service === subject)?.slice;
  const found = ofKind.find(({ name }) => name === subject) ?? ofKind.find(({ name }) => name === slice);
  if (found !== undefined) return found;
  const only = ofKind.length === 1 && (subject === undefined || kind === 'api') ? ofKind[0] : undefined;
  if (only !== undefined) return only;
  return subject === undefined ? lanes[0]! : added(lanes, lane(kind, subject, kind));
}

function added(lanes: Lane[], extra: Lane): Lane {
  lanes.push(extra);
  return extra;
}
