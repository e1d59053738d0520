/** The document of `check -o json`, its gates and its exit code. Pure. Schema: schema/check-report.schema.json. */
import { severities, type Gate, type Severity } from '../model/report.ts';
import { plural } from '../verdict/words.ts';
import { isProblem, type CheckFinding, type FailOn, type Unknown } from './finding.ts';
import type { BrokenInput, Manifest } from './manifests.ts';
import type { Envelope } from './output.ts';
import type { ShutdownSpec, Subject } from './shutdown-spec.ts';

export interface CheckReport extends Envelope {
  kind: 'CheckReport';
  /** Also the last line of the text for people. */
  summary: string;
  /** Worst first. */
  checks: CheckedObject[];
  /** Input that could not be read as manifests; the rest was judged. */
  errors: BrokenInput[];
  verdict: { exitCode: number; gates: Gate[] };
}

type Judgement = 'no-problem-found' | 'problems' | 'cannot-tell';

export interface CheckedObject extends Subject {
  /** Where it is in a manifest. */
  file?: string;
  line?: number;
  judgement: Judgement;
  /** `no problem found`, `2 problems`, `cannot tell: …`. */
  sentence: string;
  /** Most severe first. */
  findings: ReportedFinding[];
  /** What the spec cannot show. */
  cannotTell: Unknown[];
}

export interface ReportedFinding extends Omit<CheckFinding, 'path'> {
  /** In kubectl's notation: `spec.template.spec.containers[0].lifecycle.preStop`. */
  field?: string;
  file?: string;
  line?: number;
}

/** `manifest`: where the spec was read from; undefined for a cluster. */
export interface CheckedSpec {
  spec: ShutdownSpec;
  manifest?: Manifest;
}

/** `gates`: those that the caller has judged. */
interface Gating {
  failOn: readonly FailOn[];
  gates: readonly Gate[];
  warnOnly: boolean;
}

export function checkReportOf(
  objects: readonly CheckedObject[],
  errors: readonly BrokenInput[],
  { failOn, gates: judgedGates, warnOnly }: Gating,
): Omit<CheckReport, 'apiVersion' | 'run'> {
  const checks = objects.toSorted(worstFirst);
  const gates = [...failOn.map((wanted) => failOnGate(wanted, checks)), ...judgedGates];
  const failed = gates.some(({ passed }) => !passed);
  // Unreadable input outranks a failed gate: nothing in it was judged.
  const exitCode = errors.length > 0 ? 1 : failed && !warnOnly ? 5 : 0;
  const summary = summaryOf(checks, errors);
  return { kind: 'CheckReport', summary, checks, errors: [...errors], verdict: { exitCode, gates } };
}

const worstToBest: readonly Judgement[] = ['problems', 'cannot-tell', 'no-problem-found'];

function worstFirst(a: CheckedObject, b: CheckedObject): number {
  const byCount = (severity: Severity): number => countOf(b, severity) - countOf(a, severity);
  return worstToBest.indexOf(a.judgement) - worstToBest.indexOf(b.judgement) || byCount('error') || byCount('warning');
}

const countOf = ({ findings }: CheckedObject, severity: Severity): number =>
  findings.filter((finding) => finding.severity === severity).length;

export const problemsOf = ({ findings }: CheckedObject): ReportedFinding[] => findings.filter(isProblem);

function failOnGate(wanted: FailOn, checks: readonly CheckedObject[]): Gate {
  const found = checks.flatMap(({ findings }) => findings).filter((finding) => matchesFailOn(wanted, finding));
  const passed = found.length === 0;
  const message = passed ? 'not found' : found.map(({ message: text }) => text).join('; ');
  return { name: `fail-on ${wanted}`, passed, message };
}

/** A severity also matches graver ones; `any` matches every problem. */
function matchesFailOn(wanted: FailOn, { code, severity }: ReportedFinding): boolean {
  if (wanted === 'any') return severity !== 'info';
  const minRank = severities.indexOf(wanted as Severity);
  return minRank >= 0 ? severities.indexOf(severity) >= minRank : code === wanted;
}

function summaryOf(checks: readonly CheckedObject[], errors: readonly BrokenInput[]): string {
  const broken = errors.length === 0 ? '' : `; ${errors.length} could not be read`;
  const [only, ...more] = checks;
  if (!only) return errors.length === 0 ? 'nothing with pods to check' : `nothing was checked${broken}`;
  if (more.length === 0) return `${only.sentence}: ${objectName(only)}${broken}`;
  const bad = checks.filter(({ judgement }) => judgement === 'problems');
  const problems = bad.flatMap(problemsOf).length;
  const text =
    bad.length === 0
      ? `no problem found in ${checks.length} workloads`
      : `${plural(problems, 'problem')} in ${bad.length} of ${checks.length} workloads`;
  const open = checks.filter(({ judgement }) => judgement === 'cannot-tell').length;
  return `${text}${open > 0 ? `, cannot tell for ${open}` : ''}${broken}`;
}

/** As kubectl prints it, `deployment/checkout`, after its namespace if it has one. */
export const objectName = ({ kind, name, namespace }: Pick<Subject, 'kind' | 'name' | 'namespace'>): string =>
  `${namespace === undefined ? '' : `${namespace} `}${kind.toLowerCase()}/${name}`;
