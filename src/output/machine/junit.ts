/** JUnit XML by Jenkins' schema: a case per pod, and per gate. GitLab drops attributes, so a body has the card. */
import type { Gate } from '../../model/report.ts';
import { exitCodes } from '../../verdict/policy.ts';
import type { Report } from '../../verdict/report.ts';
import type { RolloutNumbers } from '../../verdict/rollout.ts';
import { isGraceSeen } from '../../verdict/rule-input.ts';
import { cardLines } from '../text/card.ts';
import { ownerText, podText } from '../pod-facts.ts';
import { plainPen } from '../palette.ts';
import { join, markup, trusted, type Html } from '../html/markup.ts';

export interface TestCase {
  readonly classname: string;
  readonly name: string;
  readonly ms?: number;
  readonly fault?: Fault | undefined;
  /** Why it was skipped. */
  readonly skipped?: string | undefined;
  /** One entry per line, as in a fault. */
  readonly output?: readonly string[] | undefined;
}

interface Fault {
  readonly kind: 'failure' | 'error';
  readonly type?: string;
  readonly message: string;
  readonly lines?: readonly string[] | undefined;
}

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
  const fault: Fault = { kind: 'error', type: 'unknown', message: 'its termination was not observed' };
  const classname = target.replace('/', '.');
  const cases: TestCase[] = [
    ...reports.map((report) => exitCase(report, report.timeline.pod.metadata.name)),
    ...unseen.map((name) => ({ classname, name, fault })),
    ...gates.map((gate) => gateCase(gate, classname, exitCode)),
  ];
  const isExplained = incomplete === undefined && cases.some((one) => one.fault);
  const gaveUp: Fault = { kind: 'error', type: 'incomplete', message: incomplete ?? sentence };
  if (exitCode !== 0 && !isExplained) cases.push({ classname, name: 'rollout', fault: gaveUp });
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
  cases: readonly TestCase[],
): string {
  const known = Object.entries(properties).filter(([, value]) => value !== undefined);
  const [failures, errors] = ['failure', 'error'].map(
    (kind) => cases.filter(({ fault }) => fault?.kind === kind).length,
  );
  const skipped = cases.filter((one) => one.skipped !== undefined).length;
  const totals = markup`tests="${cases.length}" failures="${failures}" errors="${errors}" time="${secondsOf(ms)}"`;
  const start = Number.isFinite(timestamp) && new Date(timestamp).toISOString().slice(0, 19);
  const lines = [
    trusted('<?xml version="1.0" encoding="UTF-8"?>'),
    markup`<testsuites name="podexit" ${totals}>`,
    markup`<testsuite name="${name}" ${totals} skipped="${skipped}"${start && markup` timestamp="${start}"`}>`,
    markup`<properties>${known.map(([key, value]) => markup`<property name="${key}" value="${value}"></property>`)}</properties>`,
    ...cases.map(caseMarkup),
    trusted('</testsuite>\n</testsuites>\n'),
  ];
  return join(lines, '\n').html;
}

const caseMarkup = ({ classname, name, ms = 0, fault, skipped, output }: TestCase): Html => markup`
  <testcase name="${name}" classname="${classname}" time="${secondsOf(ms)}">
    ${fault && faultMarkup(fault)}
    ${skipped !== undefined && markup`<skipped message="${skipped}"></skipped>`}
    ${output && markup`<system-out>${join(output, '\n')}</system-out>`}
  </testcase>`;

const faultMarkup = ({ kind, type, message, lines = [] }: Fault): Html => markup`
  <${kind} message="${message}"${type !== undefined && markup` type="${type}"`}>
    ${join(lines, '\n')}
  </${kind}>`;

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
function exitCase(report: Report, name: string): TestCase {
  const { outcome, exitCode } = report.verdict;
  const isGraceful = outcome === 'graceful' || outcome === 'removed';
  const isBad = exitCode !== 0 && (!isGraceful || name !== 'exit');
  // An error is an exit that was not observed to its end: stuck, unknown, interrupted.
  const kind = exitCode === exitCodes.failed || isGraceful ? 'failure' : 'error';
  const lines = bodyOf(report);
  const result = isBad
    ? { fault: { kind, type: outcome, message: report.answer.summary, lines } as const }
    : { output: lines };
  return { classname: classOf(report), name, ms: report.timeline.total?.shown ?? 0, ...result };
}

/** `report`: of the pod that the gate is about, if it is not about all pods. */
export function gateCase(gate: Gate, classname: string, exitCode: number, report?: Report): TestCase {
  const { passed, judged, message } = gate;
  const name = `gate ${gate.name}`;
  if (judged === false) return { classname, name, skipped: message, output: [message] };
  if (passed || exitCode === 0) return { classname, name, output: [message] };
  const fault = { kind: 'failure', type: `gate.${gate.name}`, message, lines: report && bodyOf(report) } as const;
  return { classname, name, fault };
}

const secondsOf = (ms: number): string => (ms / 1000).toFixed(3);

/** The owner, so that runs of one workload are grouped whatever its pods are called: `shop.deployment.checkout`. */
function classOf({ timeline }: Report): string {
  const { namespace = '', name } = timeline.pod.metadata;
  return `${namespace}.${ownerText(timeline)?.replace('/', '.') ?? name}`;
}

const bodyOf = (report: Report): string[] => cardLines(report, { pen: plainPen, columns: 80 });
