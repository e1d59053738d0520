/** JUnit XML by Jenkins' schema: a case per pod, and per gate. GitLab drops attributes, so a body has the card. */
import type { Gate } from '../../model/report.ts';
import { exitCodes } from '../../verdict/policy.ts';
import type { Report } from '../../verdict/report.ts';
import type { RolloutNumbers } from '../../verdict/rollout.ts';
import { isGraceSeen } from '../../verdict/rule-input.ts';
import { cardLines } from '../text/card.ts';
import { ownerText, podText } from '../pod-facts.ts';
import { plainPen } from '../palette.ts';
import { writeXml, type XmlElement } from '../html/markup.ts';

/** Cases fail only with a bad exit code: under `--warn-only` (0) nothing fails, and the cases still describe the exit. */
export function renderJunit(report: Report): string {
  const { timeline, verdict } = report;
  const gates = verdict.gates.map((gate) => gateCase(gate, classOf(report), verdict.exitCode, report));
  const cases = [exitCase(report, 'exit'), ...gates];
  return junitOf(`podexit ${podText(timeline)}`, timeline.total?.shown ?? 0, timeline.zero, properties(report), cases);
}

/** A run over several pods: one suite with a case for each pod. A pod that was not observed is an error. */
export function renderRolloutJunit(
  { target, total, unseen, sentence, exitCode, incomplete, gates }: RolloutNumbers,
  reports: readonly Report[],
): string {
  const error = faultOf(undefined, 'error', 'unknown', 'its termination was not observed');
  const classname = target.replace('/', '.');
  const cases = [
    ...reports.map((report) => exitCase(report, report.timeline.pod.metadata.name)),
    ...unseen.map((name) => testCase(classname, name, 0, [error])),
    ...gates.map((gate) => gateCase(gate, classname, exitCode)),
  ];
  const isExplained = incomplete === undefined && ['failure', 'error'].some((kind) => count(cases, kind) > 0);
  const gaveUp = faultOf(undefined, 'error', 'incomplete', incomplete ?? sentence);
  if (exitCode !== 0 && !isExplained) cases.push(testCase(classname, 'rollout', 0, [gaveUp]));
  const start = Math.min(...reports.map(({ timeline }) => timeline.zero));
  const known = { workload: target, pods: reports.length, 'exit-code': exitCode, summary: sentence };
  return junitOf(`podexit ${target}`, total ?? 0, start, known, cases);
}

/** `timestamp`: ms, client's clock; not finite if no pod was deleted. */
export function junitOf(
  name: string,
  ms: number,
  timestamp: number,
  properties: Readonly<Record<string, string | number | undefined>>,
  cases: readonly XmlElement[],
): string {
  const known = Object.entries(properties).flatMap(([key, value]) =>
    value === undefined ? [] : [{ name: 'property', attributes: { name: key, value: String(value) } }],
  );
  const [failures, errors] = ['failure', 'error'].map((kind) => count(cases, kind));
  const totals = { tests: cases.length, failures, errors, time: secondsOf(ms) };
  const suite = {
    name: 'testsuite',
    attributes: {
      name,
      ...totals,
      skipped: count(cases, 'skipped'),
      timestamp: Number.isFinite(timestamp) ? new Date(timestamp).toISOString().slice(0, 19) : undefined,
    },
    children: [{ name: 'properties', children: known }, ...cases],
  };
  return writeXml({ name: 'testsuites', attributes: { name: 'podexit', ...totals }, children: [suite] });
}

function properties({ timeline, verdict, answer }: Report) {
  const { pod, grace, trigger, mode } = timeline;
  // A check only predicts an exit: nobody deletes the pod.
  const isCheck = mode === 'check';
  return {
    [isCheck ? 'forecast' : 'outcome']: verdict.outcome,
    'exit-code': verdict.exitCode,
    mode,
    trigger: isCheck ? undefined : trigger.kind,
    namespace: pod.metadata.namespace,
    pod: pod.metadata.name,
    uid: pod.metadata.uid,
    node: pod.spec.nodeName,
    owner: ownerText(timeline),
    'grace-seconds': isGraceSeen(timeline) ? grace.effectiveSeconds : undefined,
    deadline: isCheck ? undefined : new Date(grace.deadline).toISOString(),
    traffic: isCheck ? undefined : answer.traffic.judgement,
    cause: answer.cause?.code,
  };
}

/** A single pod's gates are separate cases; among several pods, a failed gate fails the case of its pod. */
function exitCase(report: Report, name: string): XmlElement {
  const { answer } = report;
  const { outcome, exitCode } = report.verdict;
  const isGraceful = outcome === 'graceful' || outcome === 'removed';
  const isBad = exitCode !== 0 && (!isGraceful || name !== 'exit');
  // An error is an exit that was not observed to its end: stuck, unknown, interrupted.
  const kind = exitCode === exitCodes.failed || isGraceful ? 'failure' : 'error';
  const { total } = report.timeline;
  const child = isBad ? faultOf(report, kind, outcome, answer.summary) : output(bodyOf(report));
  return testCase(classOf(report), name, total?.shown ?? 0, [child]);
}

/** `report`: of the pod that the gate is about, if it is not about all pods. */
export function gateCase(gate: Gate, classname: string, exitCode: number, report?: Report): XmlElement {
  const { name, passed, judged, message } = gate;
  const isSkipped = judged === false;
  const isBad = !isSkipped && !passed && exitCode !== 0;
  // `system-out` does not repeat the message of a fault.
  const children = isBad
    ? [faultOf(report, 'failure', `gate.${name}`, message)]
    : [...(isSkipped ? [{ name: 'skipped', attributes: { message } }] : []), output([message])];
  return testCase(classname, `gate ${name}`, 0, children);
}

const faultOf = (report: Report | undefined, name: 'failure' | 'error', type: string, message: string): XmlElement => ({
  name,
  attributes: { message, type },
  lines: report && bodyOf(report),
});

const output = (lines: readonly string[]): XmlElement => ({ name: 'system-out', lines });

export const testCase = (classname: string, name: string, ms: number, children: readonly XmlElement[]): XmlElement => ({
  name: 'testcase',
  attributes: { name, classname, time: secondsOf(ms) },
  children,
});

const secondsOf = (ms: number): string => (ms / 1000).toFixed(3);

/** The owner, so that runs of one workload are grouped whatever its pods are called: `shop.deployment.checkout`. */
function classOf({ timeline }: Report): string {
  const { namespace = '', name } = timeline.pod.metadata;
  return `${namespace}.${ownerText(timeline)?.replace('/', '.') ?? name}`;
}

const bodyOf = (report: Report): string[] => cardLines(report, { pen: plainPen, columns: 80 });

const count = (cases: readonly XmlElement[], kind: string): number =>
  cases.filter(({ children = [] }) => children.some(({ name }) => name === kind)).length;
