/** Marks: the points of the timeline, each with a stable id. */
import { millisecondsOf } from '../model/assumptions.ts';
import type { MarkName } from '../model/report.ts';
import { atLeast } from '../model/span.ts';
import type { Fact, RequestFacts, Trace } from '../model/trace.ts';
import { arrival } from './arrival.ts';
import type { Exit } from './conclusions.ts';
import type { ContainerExit } from './context.ts';
import { isExecuted, mayHaveCounted } from './deletion.ts';
import { capAtNow, isBefore, onClient, onNode, type Estimate } from './estimate.ts';
import type { TimelineMark } from './schedule.ts';

export function marksOf(trace: Trace, exit: Exit): TimelineMark[] {
  const marks = [
    ...requestMarks(exit),
    ...kubeletMarks(trace, exit),
    ...exit.containers.flatMap((container) => containerMarks(trace, exit, container)),
    ...endpointMarks(exit),
    ...nodeMarks(trace, exit),
    ...removalMarks(exit),
    ...replacementMarks(exit),
  ];
  return marks.flatMap((one) => {
    const at = capAtNow(trace, one.at);
    return at ? [{ ...one, at }] : [];
  });
}

interface Extra {
  subject?: string | undefined;
  note?: string | undefined;
  provisional?: boolean;
}

/** None where nothing is known of it. */
function mark(
  name: MarkName,
  at: Estimate | undefined,
  { subject, note, provisional = false }: Extra = {},
): TimelineMark[] {
  if (!at) return [];
  const id = subject === undefined ? name : `${name}/${subject}`;
  return [{ id, name, subject, at, note, provisional }];
}

function requestMarks({ deletion }: Exit): TimelineMark[] {
  const { ours, facts } = deletion;
  return [
    ...(ours ? requestMark(ours) : []),
    ...mark('accepted', deletion.accepted, {
      note: `deadline ${facts.first.value.metadata.deletionTimestamp ?? 'unknown'}`,
    }),
  ];
}

/** Our own request: only we know of it. */
const requestMark = (request: RequestFacts): TimelineMark[] =>
  mark('requested', sentAt(request), { note: `${request.verb === 'evict' ? 'eviction' : 'DELETE'}, uid precondition` });

/** When it left. */
const sentAt = ({ sent }: RequestFacts): Estimate => onClient({ lo: sent.at, hi: sent.at + 1 }, [sent.seq], 'observed');

function kubeletMarks(trace: Trace, exit: Exit): TimelineMark[] {
  return mark('acknowledged', exit.kubelet.noticed, { note: killTrouble(trace, exit) });
}

function containerMarks(trace: Trace, exit: Exit, container: ContainerExit): TimelineMark[] {
  const { spec, hook, signal, facts } = container;
  const subject = spec.name;
  // Until every Event of its hook has come, what came after it may not have come at all.
  const provisional = !container.settled || hook?.mayFail === true;
  const lost = facts.readyLost;
  return [
    ...mark('stopping', container.stopping, { subject }),
    ...(container.ran && !hook?.doubted
      ? mark('prestop-ended', hook?.end, { subject, note: hook && `preStop ${hook.kind} ${hook.outcome}`, provisional })
      : []),
    ...mark('stop-signal', signal, { subject, note: signal?.name, provisional: provisional && !signal?.proved }),
    ...mark('kill', container.kill, { subject, note: 'SIGKILL' }),
    ...mark('exited', container.exit?.at, {
      subject,
      note: exitNote(container),
      provisional: container.exit?.provisional ?? false,
    }),
    ...mark('ready-lost', lost && arrival(trace, lost, 'pod', exit.deletion.accepted), { subject }),
  ];
}

function exitNote({ exit }: ContainerExit): string | undefined {
  if (!exit) return undefined;
  if (exit.code === undefined) return 'its log ended';
  return exit.reason === undefined || exit.reason === 'Completed' || exit.reason === 'Error'
    ? `code ${exit.code}`
    : `code ${exit.code}, ${exit.reason}`;
}

const endpointMarks = ({ endpoints }: Exit): TimelineMark[] =>
  endpoints.flatMap(({ slice, unrouted, removed, otherReady }) => [
    ...mark('unrouted', unrouted, {
      subject: slice,
      note: `${unrouted?.serving ? 'still serving; ' : ''}${otherReady} other ready`,
    }),
    ...mark('endpoint-removed', removed, { subject: slice }),
  ]);

/** Only what happened to the node while the pod was going. */
function nodeMarks(trace: Trace, exit: Exit): TimelineMark[] {
  const name = trace.node?.value.metadata.name;
  const since = exit.deletion.accepted.client.lo;
  const changes = trace.nodeReady.filter((ready, index) => index > 0 && ready.at + 1 >= since);
  const down = changes.find((ready) => ready.value !== 'True');
  const up = changes.find((ready) => ready.value === 'True' && (!down || ready.seq > down.seq));
  return [
    ...mark('node-not-ready', down && arrival(trace, down, 'node', exit.deletion.accepted), { subject: name }),
    ...mark('node-ready', up && arrival(trace, up, 'node', exit.deletion.accepted), { subject: name }),
  ];
}

function removalMarks({ removal }: Exit): TimelineMark[] {
  const { done, finalDelete, finalizers, held, removed } = removal;
  return [
    ...mark('containers-done', done),
    ...mark('final-delete', finalDelete),
    ...mark('finalizing', held, { note: finalizers.join(', ') }),
    ...mark('removed', removed),
  ];
}

const replacementMarks = ({ replacement }: Exit): TimelineMark[] => [
  ...mark('replacement-created', replacement?.created, { subject: replacement?.name }),
  ...mark('replacement-scheduled', replacement?.scheduled, { subject: replacement?.name }),
  ...mark('replacement-started', replacement?.started, { subject: replacement?.name }),
  ...mark('replacement-ready', replacement?.ready, { subject: replacement?.name }),
];

/** ms past the grace: at least 2 s remain after a hook (SIGNALS.md §2), and the kill itself may take about 3 s. */
const overdueAfter = 5000;
/** Characters of a runtime's error that are worth a line. */
const longestMessage = 200;

/** A phrase; undefined where nothing shows. */
function killTrouble(trace: Trace, { deletion, containers }: Exit): string | undefined {
  const failed = trace.events
    .filter(({ reason, time }) => reason === 'FailedKillPod' && !isBefore(onNode(time, []), deletion.accepted))
    .at(-1);
  if (failed) {
    const times = failed.count > 1 ? ` (${failed.count} times)` : '';
    return `its kill fails${times}: ${failed.message.slice(0, longestMessage)}`;
  }
  const late = containers.filter(({ ran, exit, stopping }) => {
    const due = (stopping?.client.hi ?? Infinity) + deletion.grace * 1000 + overdueAfter;
    return ran && !exit && trace.now > due;
  });
  return trace.gone || late.length === 0
    ? undefined
    : `the kill of ${late.map(({ spec }) => spec.name).join(', ')} is overdue`;
}

/**
 * What is known of a pod whose deletion was not seen: what we asked for, and since when the pod is gone. None while it may still
 * be there.
 */
export function unseenMarks(trace: Trace): TimelineMark[] {
  const { gone, pod, requests } = trace;
  if (!gone || !pod) return [];
  const request = requests.findLast(mayHaveCounted);
  const removed = arrival(trace, gone, 'pod', request && isExecuted(request) ? sentAt(request) : aliveAt(pod));
  return [...(request ? requestMark(request) : []), ...mark('removed', removed)];
}

/** Its last state shows that it was there, and is older than its arrival by `delivery-lag` at most. */
const aliveAt = ({ at, seq }: Fact<unknown>): Estimate => onClient(atLeast(at - millisecondsOf('delivery-lag')), [seq]);
