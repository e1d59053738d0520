/**
 * JUnit XML, as Jenkins' schema has it: a suite for the run, a case for the exit as a whole, for each container and
 * for each gate. GitLab drops a failure's attributes, so that the verdict also stands in its body.
 */
import type { ContainerOutcome, ContainerReport, ExitReport, Gate } from '../model/report.ts';
import { deletedBy, gateWord, outcomeSentence, outcomeWord } from './outcome-text.ts';
import { lasted } from '../verdict/figures.ts';
import { offsetRange, zeroOf } from './offsets.ts';
import type { XmlElement } from './xml.ts';
import { writeXml } from './xml.ts';

/** Red where the exit code is: with `--warn-only` (exit code 0) nothing fails, and the cases still tell what was. */
export function renderJunit(report: ExitReport): string {
  const cases = [
    exitCase(report),
    ...report.containers.map(containerCase(report)),
    ...report.verdict.gates.map(gateCase(report)),
  ];
  const totals = {
    tests: cases.length,
    failures: count(cases, 'failure'),
    errors: count(cases, 'error'),
    time: seconds(lasted(report)?.range),
  };
  const suite: XmlElement = {
    name: 'testsuite',
    attributes: {
      name: suiteName(report),
      ...totals,
      skipped: count(cases, 'skipped'),
      timestamp: new Date(zeroOf(report)).toISOString().slice(0, 19),
    },
    children: [{ name: 'properties', children: properties(report) }, ...cases],
  };
  return writeXml({ name: 'testsuites', attributes: { name: 'podexit', ...totals }, children: [suite] });
}

const suiteName = ({ pod }: ExitReport): string => `podexit ${pod.namespace}/${pod.name}`;

function properties(report: ExitReport): XmlElement[] {
  const { pod, grace, trigger, verdict } = report;
  // Nobody deletes what is only forecast.
  const isForecast = report.mode === 'check';
  const values = {
    [isForecast ? 'forecast' : 'outcome']: verdict.outcome,
    'exit-code': verdict.exitCode,
    mode: report.mode,
    trigger: isForecast ? undefined : trigger.kind,
    namespace: pod.namespace,
    pod: pod.name,
    uid: pod.uid,
    node: pod.node,
    owner: pod.owner && `${pod.owner.kind}/${pod.owner.name}`,
    'grace-seconds': grace.effectiveSeconds,
    deadline: isForecast ? undefined : grace.deadline,
  };
  return Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [{ name: 'property', attributes: { name, value: String(value) } }],
  );
}

function exitCase(report: ExitReport): XmlElement {
  const { outcome, exitCode } = report.verdict;
  const expected = outcome === 'graceful' || outcome === 'removed';
  // Not a bad exit but one that was not seen to its end: stuck, unknown, interrupted.
  const kind = exitCode === 2 ? 'failure' : 'error';
  const fault = fails(report, !expected) && faultOf(report, kind, outcome, `${outcome}: ${outcomeSentence(report)}`);
  return testCase(report, 'exit', seconds(lasted(report)?.range), fault || undefined);
}

/** What each outcome means for a container of the pod; a sidecar raises findings, never the outcome. */
const bad: Record<ContainerOutcome, boolean> = {
  completed: false,
  signalled: false,
  failed: true,
  killed: true,
  oom: true,
  abandoned: true,
  'not-running': false,
  unknown: false,
};

function containerCase(report: ExitReport): (container: ContainerReport) => XmlElement {
  return (container) => {
    const { name, kind, outcome, exit } = container;
    const code = exit === undefined ? '' : ` with exit code ${exit.code}${exit.reason ? ` (${exit.reason})` : ''}`;
    const message = `${kind} ${name}: ${outcome}${code}`;
    const time = seconds(stopTime(report, container));
    if (outcome === 'not-running')
      return testCase(report, `${kind} ${name}`, time, { name: 'skipped', attributes: { message } }, message);
    const fault = fails(report, bad[outcome] && kind === 'container') && faultOf(report, 'failure', outcome, message);
    return testCase(report, `${kind} ${name}`, time, fault || undefined, message);
  };
}

function gateCase(report: ExitReport): (gate: Gate) => XmlElement {
  return ({ name, passed, judged, message }) => {
    if (judged === false)
      return testCase(report, `gate ${name}`, '0.000', { name: 'skipped', attributes: { message } }, message);
    const fault = fails(report, !passed) && faultOf(report, 'failure', `gate.${name}`, message);
    return testCase(report, `gate ${name}`, '0.000', fault || undefined, message);
  };
}

const fails = (report: ExitReport, wrong: boolean): boolean => wrong && report.verdict.exitCode !== 0;

function faultOf(report: ExitReport, name: 'failure' | 'error', type: string, message: string): XmlElement {
  return { name, attributes: { message, type }, lines: [message, '', ...verdictLines(report)] };
}

/** What a fault says in its body is not said again: who reads faults reads those. */
function testCase(
  report: ExitReport,
  name: string,
  time: string | undefined,
  fault?: XmlElement,
  said?: string,
): XmlElement {
  const out: XmlElement = { name: 'system-out', lines: said === undefined ? verdictLines(report) : [said] };
  const classname = `${report.pod.namespace}.${report.pod.name}`;
  const children = fault?.lines ? [fault] : [...(fault ? [fault] : []), out];
  return { name: 'testcase', attributes: { name, classname, time }, children };
}

function verdictLines(report: ExitReport): string[] {
  const { verdict } = report;
  const by = deletedBy(report);
  return [
    `${outcomeWord(report)} (exit code ${verdict.exitCode}): ${outcomeSentence(report)}`,
    ...(by === undefined ? [] : [`Deleted by: ${by}`]),
    ...verdict.findings.flatMap(({ severity, code, message, advice }) => [
      `${severity} ${code}: ${message}`,
      ...(advice === undefined ? [] : [`  Next step: ${advice}`]),
    ]),
    ...verdict.gates.map((gate) => `gate ${gate.name}: ${gateWord(gate)}. ${gate.message}`),
  ];
}

/** From the first thing done to the container to its end. */
function stopTime(
  report: ExitReport,
  { preStop, stopSignal, exit }: ContainerReport,
): { min: number; max: number } | undefined {
  const zero = zeroOf(report);
  const start = preStop?.start ?? stopSignal;
  const [from, to] = [start && offsetRange(zero, start), exit && offsetRange(zero, exit.at)];
  return from && to && { min: Math.max(0, to.min - from.max), max: Math.max(0, to.max - from.min) };
}

/** The middle of an interval in seconds, as the schema wants it. */
const seconds = (range: { min: number; max: number } | undefined): string | undefined =>
  range && Number.isFinite(range.max) ? ((range.min + range.max) / 2).toFixed(3) : undefined;

const count = (cases: readonly XmlElement[], kind: string): number =>
  cases.filter(({ children = [] }) => children.some(({ name }) => name === kind)).length;
