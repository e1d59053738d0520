/**
 * JUnit XML, as Jenkins' schema has it: a suite for the run, the case `exit` for the pod and one for each gate. GitLab
 * drops a failure's attributes, so that the card also stands in its body.
 */
import type { Gate } from '../model/report.ts';
import type { Report } from '../verdict/report.ts';
import { cardLines } from './card.ts';
import { ownerText, podText } from './heading.ts';
import { penFor, plainStyle } from './palette.ts';
import type { XmlElement } from './xml.ts';
import { writeXml } from './xml.ts';

/** Red where the exit code is: with `--warn-only` (exit code 0) nothing fails, and the cases still say what was. */
export function renderJunit(reports: Report | readonly Report[]): string {
  const suites = (Array.isArray(reports) ? (reports as readonly Report[]) : [reports as Report]).map(suiteOf);
  const sum = (of: (suite: Suite) => number): number => suites.reduce((total, suite) => total + of(suite), 0);
  const totals = {
    tests: sum(({ cases }) => cases.length),
    failures: sum(({ cases }) => count(cases, 'failure')),
    errors: sum(({ cases }) => count(cases, 'error')),
    time: sum(({ seconds }) => seconds).toFixed(3),
  };
  return writeXml({
    name: 'testsuites',
    attributes: { name: 'podexit', ...totals },
    children: suites.map(({ element }) => element),
  });
}

interface Suite {
  readonly element: XmlElement;
  readonly cases: readonly XmlElement[];
  readonly seconds: number;
}

function suiteOf(report: Report): Suite {
  const { timeline, verdict } = report;
  const cases = [exitCase(report), ...verdict.gates.map((gate) => gateCase(report, gate))];
  const seconds = (timeline.total?.shown ?? 0) / 1000;
  const attributes = {
    name: `podexit ${podText(timeline)}`,
    tests: cases.length,
    failures: count(cases, 'failure'),
    errors: count(cases, 'error'),
    time: seconds.toFixed(3),
    skipped: count(cases, 'skipped'),
    timestamp: new Date(timeline.zero).toISOString().slice(0, 19),
  };
  const element = {
    name: 'testsuite',
    attributes,
    children: [{ name: 'properties', children: properties(report) }, ...cases],
  };
  return { element, cases, seconds };
}

function properties({ timeline, verdict, answer }: Report): XmlElement[] {
  const { pod, grace, trigger, mode } = timeline;
  // Nobody deletes what is only predicted.
  const isCheck = mode === 'check';
  const values = {
    [isCheck ? 'forecast' : 'outcome']: verdict.outcome,
    'exit-code': verdict.exitCode,
    mode,
    trigger: isCheck ? undefined : trigger.kind,
    namespace: pod.metadata.namespace,
    pod: pod.metadata.name,
    uid: pod.metadata.uid,
    node: pod.spec.nodeName,
    owner: ownerText(timeline),
    'grace-seconds': grace.effectiveSeconds,
    deadline: isCheck ? undefined : new Date(grace.deadline).toISOString(),
    traffic: isCheck ? undefined : answer.traffic.judgement,
    cause: answer.cause?.code,
  };
  return Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [{ name: 'property', attributes: { name, value: String(value) } }],
  );
}

function exitCase(report: Report): XmlElement {
  const { answer } = report;
  const { outcome, exitCode } = report.verdict;
  const isBad = outcome !== 'graceful' && outcome !== 'removed' && exitCode !== 0;
  // Not a bad exit but one that was not observed to its end: stuck, unknown, interrupted.
  const kind = exitCode === 2 ? 'failure' : 'error';
  const seconds = ((report.timeline.total?.shown ?? 0) / 1000).toFixed(3);
  return testCase(report, 'exit', seconds, isBad ? faultOf(report, kind, outcome, answer.summary) : undefined);
}

function gateCase(report: Report, { name, passed, judged, message }: Gate): XmlElement {
  if (judged === false)
    return testCase(report, `gate ${name}`, '0.000', { name: 'skipped', attributes: { message } }, message);
  const isBad = !passed && report.verdict.exitCode !== 0;
  return testCase(
    report,
    `gate ${name}`,
    '0.000',
    isBad ? faultOf(report, 'failure', `gate.${name}`, message) : undefined,
    message,
  );
}

function faultOf(report: Report, name: 'failure' | 'error', type: string, message: string): XmlElement {
  return { name, attributes: { message, type }, lines: bodyOf(report) };
}

/** What a fault says in its body is not said again. */
function testCase(report: Report, name: string, time: string, fault?: XmlElement, message?: string): XmlElement {
  const out: XmlElement = { name: 'system-out', lines: message === undefined ? bodyOf(report) : [message] };
  const children = fault?.lines ? [fault] : [...(fault ? [fault] : []), out];
  return { name: 'testcase', attributes: { name, classname: classOf(report), time }, children };
}

/** The owner, so that runs of one workload stand together whatever its pods are called: `shop.ReplicaSet.checkout-6677656c54`. */
function classOf({ timeline }: Report): string {
  const { namespace = '', name } = timeline.pod.metadata;
  return `${namespace}.${ownerText(timeline)?.replace('/', '.') ?? name}`;
}

const bodyOf = (report: Report): string[] => cardLines(report, { pen: penFor(plainStyle), columns: 80 });

const count = (cases: readonly XmlElement[], kind: string): number =>
  cases.filter(({ children = [] }) => children.some(({ name }) => name === kind)).length;
