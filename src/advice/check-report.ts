/** Applies the rules, and makes the document of `check -o json`. No spec shows that an application stops in time. Pure. */
import { severities, type Gate, type Severity } from '../model/report.ts';
import { failOnGate } from '../verdict/gates.ts';
import { plural } from '../verdict/words.ts';
import type { ContainerSpec } from './container-spec.ts';
import { isProblem, signalled, type Problem, type FailOn } from './problem.ts';
import type { BrokenInput, Manifest } from './manifests.ts';
import type { Envelope } from './output.ts';
import { adviceFor, remediesFor } from './remedies.ts';
import { isJob } from './roles.ts';
import { serviceRules } from './rules/service.ts';
import { handlingOf, signalText, stopRules } from './rules/stop.ts';
import { surroundingRules } from './rules/surroundings.ts';
import type { Situation } from './situation.ts';

/** Worst first. `errors`: input that could not be read as manifests; the rest was judged. */
export type CheckContent = ReturnType<typeof checkReportOf>;
export type CheckReport = CheckContent & Envelope;
export type CheckedObject = ReturnType<typeof judge>;
export type ReportedFinding = CheckedObject['findings'][number];

/** `manifest`: where the spec was read from; undefined for a cluster. */
export interface CheckedSpec {
  situation: Situation;
  manifest?: Manifest;
}

export function checkReportOf(
  objects: readonly CheckedObject[],
  errors: readonly BrokenInput[],
  { failOn, gates: judgedGates, warnOnly }: { failOn: readonly FailOn[]; gates: readonly Gate[]; warnOnly: boolean },
) {
  const checks = objects.toSorted(worstFirst);
  const findings = checks.flatMap((one) => one.findings);
  const gates = [...failOn.map((wanted) => failOnGate(wanted, findings)), ...judgedGates];
  const failed = gates.some(({ passed }) => !passed);
  // Unreadable input outranks a failed gate: nothing in it was judged.
  const exitCode = errors.length > 0 ? 1 : failed && !warnOnly ? 5 : 0;
  const summary = summaryOf(checks, errors);
  return { kind: 'CheckReport', summary, checks, errors: [...errors], verdict: { exitCode, gates } };
}

const worstToBest: readonly CheckedObject['judgement'][] = ['problems', 'cannot-tell', 'no-problem-found'];

function worstFirst(a: CheckedObject, b: CheckedObject): number {
  const byCount = (severity: Severity): number => countOf(b, severity) - countOf(a, severity);
  return worstToBest.indexOf(a.judgement) - worstToBest.indexOf(b.judgement) || byCount('error') || byCount('warning');
}

const countOf = ({ findings }: CheckedObject, severity: Severity): number =>
  findings.filter((finding) => finding.severity === severity).length;

export const problemsIn = ({ findings }: CheckedObject): ReportedFinding[] => findings.filter(isProblem);

function summaryOf(checks: readonly CheckedObject[], errors: readonly BrokenInput[]): string {
  const broken = errors.length === 0 ? '' : `; ${errors.length} could not be read`;
  const [only, ...more] = checks;
  if (!only) return errors.length === 0 ? 'nothing with pods to check' : `nothing was checked${broken}`;
  if (more.length === 0) return `${only.sentence}: ${objectName(only)}${broken}`;
  const bad = checks.filter(({ judgement }) => judgement === 'problems');
  const problems = bad.flatMap(problemsIn).length;
  const found = bad.length === 0 ? 'no problem found in' : `${plural(problems, 'problem')} in ${bad.length} of`;
  const open = checks.filter(({ judgement }) => judgement === 'cannot-tell').length;
  return `${found} ${checks.length} workloads${open > 0 ? `, cannot tell for ${open}` : ''}${broken}`;
}

/** As kubectl prints it, `deployment/checkout`, after its namespace if it has one. */
export const objectName = ({ kind, name, namespace }: Pick<CheckedObject, 'kind' | 'name' | 'namespace'>): string =>
  `${namespace === undefined ? '' : `${namespace} `}${kind.toLowerCase()}/${name}`;

/** Most severe first. A patch lacks the rest. In a finished pod nothing runs: only its surroundings are judged. */
export const problemsOf = (spec: Situation): Problem[] =>
  (spec.isPatch ? [] : spec.isFinished ? surroundingRules : rules)
    .flatMap((rule) => rule(spec))
    .sort((a, b) => severities.indexOf(b.severity) - severities.indexOf(a.severity));

const rules = [...stopRules, ...serviceRules, ...surroundingRules];

export function advised(situation: Situation) {
  const found = problemsOf(situation);
  const remedies = remediesFor(situation, found);
  return { found, remedies, adviceOf: (one: Problem) => adviceFor(one, remedies) ?? one.advice };
}

export function judge({ situation, manifest }: CheckedSpec) {
  const file = manifest?.file;
  const { found, adviceOf } = advised(situation);
  const findings = found.map((problem) => {
    const { path, ...finding } = problem;
    return {
      ...finding,
      advice: adviceOf(problem),
      /** In kubectl's notation: `spec.template.spec.containers[0].lifecycle.preStop`. */
      field:
        path.map((step, at) => (typeof step === 'number' ? `[${step}]` : at === 0 ? step : `.${step}`)).join('') ||
        undefined,
      file,
      line: manifest?.lineOf(path),
    };
  });
  const unknowns = unknownsOf(situation);
  const cannotTell = unknowns.map(({ isDecisive: _, ...unknown }) => unknown);
  return { ...situation.subject, file, line: manifest?.lineOf([]), ...answerOf(found, unknowns), findings, cannotTell };
}

/** `sentence`: `no problem found`, `2 problems`, `cannot tell: …`. */
function answerOf(findings: readonly Problem[], unknowns: readonly Unknown[]) {
  const problems = findings.filter(isProblem).length;
  if (problems > 0) return { judgement: 'problems' as const, sentence: plural(problems, 'problem') };
  const decisive = unknowns.find(({ isDecisive }) => isDecisive);
  if (!decisive) return { judgement: 'no-problem-found' as const, sentence: 'no problem found' };
  return { judgement: 'cannot-tell' as const, sentence: `cannot tell: ${decisive.what} (${decisive.because})` };
}

/** Something that the spec cannot show, and why not. `what` completes "cannot tell …". */
interface Unknown {
  container?: string;
  what: string;
  because: string;
  /** While this is unknown, the check may not say "no problem found". */
  isDecisive?: boolean;
}

function unknownsOf(spec: Situation): Unknown[] {
  const unread = spec.unread.map((unknown): Unknown => ({ ...unknown, isDecisive: true }));
  if (spec.isFinished) return unread;
  const because =
    'a container has no image, as in a patch (build the manifest first: kubectl kustomize), or one that Istio completes';
  if (spec.isPatch) return [{ what: 'how its containers stop', because, isDecisive: true }];
  const { containers, services, notRunningNow = false, isFromFiles, isCustom = false, subject } = spec;
  const isOpen = spec.hostNetwork && !spec.capacity.single.includes('host ports');
  const known: [boolean, string, string, boolean?][] = [
    [notRunningNow, 'what a deletion now would stop', 'none of its containers runs at this moment'],
    [isCustom, 'how its pods are replaced', `the strategy of ${subject.kind} is not known`],
    [isOpen, 'whether two of its pods fit on a node', 'hostNetwork, and no port of it is known here'],
    [containers.length === 0, 'how its containers stop', 'its spec holds no container with a name', true],
  ];
  return [
    ...known.flatMap(([applies, what, why, isDecisive]) => (applies ? { what, because: why, isDecisive } : [])),
    ...signalled(spec).flatMap((one) => [...signalUnknown(spec, one), ...hookUnknown(one)]),
    ...(isFromFiles && services.length === 0 && !isJob(spec)
      ? [{ what: 'whether clients lose requests', because: 'no Service in these files selects it' }]
      : []),
    ...unread,
  ];
}

function signalUnknown(spec: Situation, one: ContainerSpec): Unknown[] {
  const handling = handlingOf(spec, one);
  const { name: container, inspection } = one;
  const signal = signalText(spec, one);
  const what = `whether ${container} handles ${signal}`;
  // Reported whatever the command shows: the user asked for an inspection, and it failed.
  const isDecisive = handling.kind === 'depends' || handling.kind === 'unknown';
  const unread: Unknown[] =
    inspection?.kind === 'unreadable' ? [{ container, what, because: inspection.because, isDecisive }] : [];
  if (handling.kind === 'handles')
    return [...unread, { container, what: `how long ${container} takes after ${signal}`, because: handling.how }];
  if (unread.length > 0) return unread;
  // With advice it is a problem (rules/stop.ts).
  if (handling.kind === 'depends')
    return handling.advice && !isJob(spec) ? [] : [{ container, what, because: handling.because, isDecisive: true }];
  if (handling.kind !== 'unknown') return [];
  const program = handling.program === undefined ? 'its program is in the image' : `\`${handling.program}\` decides`;
  return [
    { container, what, because: `${program}; ${spec.isWindows ? '' : 'check --inspect or '}one deletion shows it` },
  ];
}

function hookUnknown({ name, hook }: ContainerSpec): Unknown[] {
  if (!hook || hook.isPlainSleep || hook.fails) return [];
  const atLeast = hook.minSeconds === undefined ? '' : `, at least ${hook.minSeconds}s`;
  const because = hook.kind === 'exec' ? `it runs ${hook.command[0] ?? 'a command'}` : 'it waits for an HTTP answer';
  return [{ container: name, what: `how long the preStop hook of ${name} takes${atLeast}`, because }];
}
