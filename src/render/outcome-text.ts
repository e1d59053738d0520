/** The outcome in one sentence, as a colleague would say it. */
import type { ContainerReport, ExitReport, Gate, Instant, Outcome, PhaseName, Range } from '../model/report.ts';
import { exitCodes } from '../verdict/exit-code.ts';
import { list, plural } from '../verdict/words.ts';
import { endWords, span } from './container-story.ts';
import { millis, offsetRange, zeroOf } from './offsets.ts';
import { triggerText } from './summary.ts';

/** Without the outcome's own word before it. Names are as the cluster wrote them: to be escaped. */
export const outcomeSentence = (report: ExitReport): string =>
  report.mode === 'check'
    ? `nothing was deleted; the forecast is ${report.verdict.outcome}.`
    : sentences[report.verdict.outcome](report);

/** What stands in front of the sentence: of a forecast nobody has seen the outcome. */
export const outcomeWord = ({ mode, verdict }: ExitReport): string => (mode === 'check' ? 'check' : verdict.outcome);

/** Who deleted it; undefined where nobody was seen to. */
export const deletedBy = (report: ExitReport): string | undefined =>
  report.mode === 'check' || report.verdict.outcome === 'not-started' || isUnseen(report)
    ? undefined
    : triggerText[report.trigger.kind];

/** It may have been deleted, and nothing was seen of that. */
const isUnseen = ({ verdict, containers, marks }: ExitReport): boolean =>
  verdict.outcome === 'unknown' && containers.length === 0 && !marks.some(({ name }) => name === 'accepted');

/** The exit code, and the gates that made it, where the outcome alone would not have. */
export function exitCodeWords({ verdict }: ExitReport): string {
  const failed = verdict.gates.flatMap(({ name, passed }) => (passed ? [] : [name]));
  const isByGates = verdict.exitCode === gatesCode && exitCodes[verdict.outcome] !== gatesCode;
  return failed.length > 0 && isByGates
    ? `${verdict.exitCode}: gate ${failed.join(', ')} failed`
    : String(verdict.exitCode);
}

/** What a failed gate alone comes to. */
const gatesCode = 2;

export const gateWord = ({ passed, judged }: Gate): 'passed' | 'failed' | 'not judged' =>
  judged === false ? 'not judged' : passed ? 'passed' : 'failed';

const sentences: Record<Outcome, (report: ExitReport) => string> = {
  graceful: (report) => `${endedWell(report)}${killedSidecars(report)}.`,
  removed: (report) =>
    `nothing was running, so nothing had to be stopped; the object was removed${afterRequest(report)}.`,
  killed: (report) => {
    const rest = others(report, 'killed');
    return `${names(report, 'killed')} did not exit within the grace of ${graceOf(report)} and ${wasKilled(report, 'killed')}${rest}.`;
  },
  failed: (report) => {
    const failed = having(report, 'failed').map(({ name, exit }) => `${name} exited with code ${exit?.code ?? '?'}`);
    return `${few(failed) || 'a container ended with an error'}${others(report, 'failed')}.`;
  },
  oom: (report) =>
    `${names(report, 'oom')} ${wasKilled(report, 'oom')} for memory while exiting${others(report, 'oom')}.`,
  overran: (report) => {
    const over = report.phases.filter(({ name }) => name === 'overtime');
    const by = over.map(({ subject, seconds: range }) => `${subject ?? 'a container'} ended ${span(range)} after it`);
    return `the grace of ${graceOf(report)} ran out, but nothing was killed${by.length > 0 ? `: ${few(by)}` : ''}.`;
  },
  forced: (report) => {
    const left = report.containers.filter(({ outcome }) => outcome === 'abandoned').map(({ name }) => name);
    return `the object was removed${afterRequest(report)}, while ${few(left) || 'its containers'} still ran.`;
  },
  stuck: (report) => `still terminating when the time to wait ran out; waiting for ${missing(report)}.`,
  unknown: (report) =>
    isUnseen(report)
      ? unseenEnd(report)
      : wasLeft(report) && wasRemoved(report)
        ? 'the pod was gone, but podexit was told to leave before all was known of how it ended.'
        : wasLeft(report)
          ? `podexit was told to leave while waiting for ${missing(report)}; the deletion goes on.`
          : doubtOf(report),
  'not-started': (report) =>
    wasLeft(report)
      ? 'no deletion had begun when podexit was told to leave.'
      : report.pod.reason !== undefined
        ? `the kubelet ended the pod by itself (${report.pod.reason}): nobody deleted it, and no exit is left to trace.`
        : report.mode === 'evict'
          ? 'the eviction was not allowed while podexit was watching, so nothing was deleted.'
          : 'no deletion began while podexit was watching.',
};

function endedWell(report: ExitReport): string {
  const [only, ...more] = mainContainers(report);
  const last = usedBy(mainContainers(report), report)[0];
  if (!only || !last) return 'whatever still ran of it ended by itself';
  const time = `${span(last.range)} of ${graceOf(report)}`;
  if (more.length > 0)
    return `all ${plural(more.length + 1, 'container')} ended by themselves, the longest (${last.name}) in ${time}`;
  return only.preStop ? `${only.name} ended in ${time}, its preStop included` : `${only.name} drained in ${time}`;
}

/** They make no outcome, but a sentence without them would say that all went well. */
function killedSidecars({ containers }: ExitReport): string {
  const killed = containers.filter(({ kind, outcome }) => kind === 'sidecar' && ['killed', 'oom'].includes(outcome));
  if (killed.length === 0) return '';
  const [sidecar, was] = killed.length > 1 ? ['sidecars', 'were'] : ['sidecar', 'was'];
  return `; its ${sidecar} ${few(killed.map(({ name }) => name))} ${was} killed`;
}

function unseenEnd(report: ExitReport): string {
  if (wasRemoved(report)) return 'the pod is gone, and nothing was seen of how it ended.';
  if (wasLeft(report)) return 'podexit was told to leave before it was known whether a deletion had begun.';
  return report.mode === 'attach'
    ? 'the pod was lost from sight before any deletion of it was seen.'
    : 'it was asked for, and nothing was heard after that: whether the pod is being deleted is not known.';
}

/** Of a pod whose containers all have an outcome, the only doubt that is left is about the grace. */
function doubtOf(report: ExitReport): string {
  const mains = mainContainers(report);
  const isKnown = mains.length > 0 && mains.every(({ outcome }) => outcome !== 'unknown');
  if (isKnown && wasRemoved(report))
    return `it cannot be told whether ${few(mains.map(({ name }) => name))} ended before or after the grace of ${graceOf(report)} ran out.`;
  // Its end is told, and what ended it is not: something else was at work beside the deletion.
  const ended = mains.filter(({ outcome, exit }) => outcome === 'unknown' && exit !== undefined);
  return ended.length > 0
    ? `what was seen does not tell what ended ${few(ended.map(({ name }) => name))}: the deletion, or something before it.`
    : 'what was seen does not tell how it ended.';
}

/** What to do where an exit was not seen to its end; undefined where it was. `reach`: connection flags behind a command. */
export function goOn(report: ExitReport, reach = ''): string | undefined {
  const { pod, verdict } = report;
  const command = `kubectl podexit ${pod.name} -n ${pod.namespace}${reach}`;
  if (verdict.outcome === 'not-started' && pod.reason !== undefined)
    return `its status says more: kubectl describe pod ${pod.name} -n ${pod.namespace}${reach}`;
  // Not a plain deletion: it would heed no budget.
  if (verdict.outcome === 'not-started' && report.mode === 'evict')
    return `ask again with: ${command} --evict --retry-evict`;
  if (verdict.outcome === 'not-started' && !wasLeft(report))
    return `have it deleted (a rollout, a drain) while this waits: ${command} --attach; or let podexit delete it: ${command}`;
  if (isUnseen(report) && !wasLeft(report))
    return wasRemoved(report)
      ? undefined
      : `see whether it is still there: kubectl get pod ${pod.name} -n ${pod.namespace}${reach}`;
  const isOpen =
    ['stuck', 'not-started'].includes(verdict.outcome) || (verdict.outcome === 'unknown' && wasLeft(report));
  return isOpen ? `go on with: ${command} --attach` : undefined;
}

const mainContainers = ({ containers }: ExitReport): ContainerReport[] =>
  containers.filter(({ kind, outcome }) => kind === 'container' && outcome !== 'not-running');

/** From when the kubelet began with it to its exit, seconds; the longest first. */
function usedBy(containers: readonly ContainerReport[], report: ExitReport): { name: string; range: Range }[] {
  const used = containers.flatMap(({ name, exit }) => {
    const own = report.phases.filter((phase) => phase.subject === name && spending.includes(phase.name));
    const [first, last] = [own[0], own.at(-1)];
    if (!first || !last) return [];
    // Nothing followed the hook: it died with the container, or went on without it.
    if (last.name === 'prestop' && exit) return [{ name, range: endToEnd(first.start, exit.at) }];
    const min = own.reduce((sum, { seconds: range }) => sum + range.min, 0);
    const max = own.reduce((sum, { seconds: range }) => sum + range.max, 0);
    // Phases share their uncertain edges: from end to end is narrower than the sum, or the sum than it.
    const whole = endToEnd(first.start, last.end);
    return [{ name, range: { min: Math.max(min, whole.min), max: Math.min(max, whole.max) } }];
  });
  return used.sort((a, b) => b.range.max - a.range.max);
}

const spending: readonly PhaseName[] = ['prestop', 'sidecar-wait', 'drain'];

function endToEnd(start: Instant, end: Instant): Range {
  const at = (time: string): number => millis(time) ?? 0;
  const [min, max] = [at(end.earliest) - at(start.latest), at(end.latest) - at(start.earliest)];
  return { min: Math.max(0, min) / 1000, max: Math.max(0, max) / 1000 };
}

/** Init containers too: one that still runs makes the outcome. */
const having = ({ containers }: ExitReport, outcome: ContainerReport['outcome']): ContainerReport[] =>
  containers.filter((one) => ['container', 'init'].includes(one.kind) && one.outcome === outcome);

const names = (report: ExitReport, outcome: ContainerReport['outcome']): string =>
  few(having(report, outcome).map(({ name }) => name)) || 'a container';

const wasKilled = (report: ExitReport, outcome: 'killed' | 'oom'): string =>
  having(report, outcome).length > 1 ? 'were killed' : 'was killed';

/** `; web exited 0`: what became of the other main containers. */
function others(report: ExitReport, outcome: ContainerReport['outcome']): string {
  const rest = mainContainers(report).filter((one) => one.outcome !== outcome);
  return rest.length === 0 ? '' : `; ${few(rest.map((one) => `${one.name} ${endWords(one)}`))}`;
}

/** Its latest moment; told as a bound, rounded up, where the truth may lie well before it. */
function afterRequest(report: ExitReport): string {
  const removed = report.marks.find(({ name }) => name === 'removed');
  const requested = report.marks.some(({ name }) => name === 'requested');
  const range = removed && offsetRange(zeroOf(report), removed.at);
  if (!range || !requested) return '';
  const isWide = range.max - range.min > 0.1;
  return isWide
    ? ` at most ${(Math.ceil(Math.round(range.max * 1000) / 10) / 100).toFixed(2)} s after the request`
    : ` ${range.max.toFixed(2)} s after the request`;
}

/** Ctrl-C and the like: exit codes from 128 on are signals. */
const wasLeft = ({ verdict }: ExitReport): boolean => verdict.exitCode >= 128;

const wasRemoved = ({ marks }: ExitReport): boolean => marks.some(({ name }) => name === 'removed');

/** What a pod that is still there is waiting for, as far as its marks tell. */
function missing({ marks, containers }: ExitReport): string {
  const has = (name: string): boolean => marks.some((mark) => mark.name === name);
  const finalizing = marks.find(({ name }) => name === 'finalizing');
  if (finalizing) return `finalizers: ${finalizing.note ?? 'unknown'}`;
  if (has('final-delete')) return 'the API server to remove the object';
  if (has('containers-done')) return "the kubelet's clean-up (volumes, cgroup, sandbox)";
  if (!has('acknowledged')) return 'a sign of the kubelet';
  const running = containers.filter(({ outcome, exit }) => outcome !== 'not-running' && !exit);
  const trouble = marks.find(({ name }) => name === 'acknowledged')?.note;
  return `${few(running.map(({ name }) => name)) || 'the containers'} to end${trouble === undefined ? '' : `: ${trouble}`}`;
}

const graceOf = ({ grace }: ExitReport): string => `${grace.effectiveSeconds} s`;

/** A sentence that names forty containers is cut off somewhere, so it names these and counts the rest. */
const mostNamed = 5;

const few = (words: readonly string[]): string =>
  words.length <= mostNamed + 1
    ? list(words)
    : list([...words.slice(0, mostNamed), `${words.length - mostNamed} more containers`]);
