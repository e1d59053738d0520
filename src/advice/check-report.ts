/** The document of `check -o json`, and the decisions that follow from it. Pure. Its schema: schema/check-report.schema.json. */
import { severities, type Gate, type Severity } from '../model/report.ts';
import { plural } from '../verdict/words.ts';
import { isProblem, type CheckFinding, type FailOn, type Unknown } from './finding.ts';
import type { Checked, Judgement } from './judge.ts';
import type { BrokenInput, Manifest } from './manifests.ts';
import type { Envelope } from './output.ts';
import type { Path, ShutdownSpec, Subject } from './shutdown-spec.ts';

export interface CheckReport extends Envelope {
  kind: 'CheckReport';
  /** The last line of what people see. */
  summary: string;
  /** Worst first. */
  checks: CheckedObject[];
  /** What could not be read as a manifest; everything else was judged. */
  errors: BrokenInput[];
  verdict: { exitCode: number; gates: Gate[] };
}

export interface CheckedObject extends Subject {
  judgement: Judgement;
  sentence: string;
  findings: ReportedFinding[];
  cannotTell: Unknown[];
}

export interface ReportedFinding extends Omit<CheckFinding, 'path'> {
  /** As kubectl writes it: `spec.template.spec.containers[0].lifecycle.preStop`. */
  field?: string;
  file?: string;
  line?: number;
}

export interface CheckInput {
  read: readonly { spec: ShutdownSpec; judged: Checked; manifest?: Manifest }[];
  errors: readonly BrokenInput[];
  failOn: readonly FailOn[];
  /** Gates that are judged already. */
  gates: readonly Gate[];
  warnOnly: boolean;
}

export function checkReportOf({
  read,
  errors,
  failOn,
  gates: others,
  warnOnly,
}: CheckInput): Omit<CheckReport, 'apiVersion' | 'run'> {
  const checks = read.map(checkedObject).sort(worstFirst);
  const gates = [...failOn.map((one) => failOnGate(one, checks)), ...others];
  const failed = gates.some(({ passed }) => !passed);
  // Input that cannot be read comes before a gate: what it holds has not been judged.
  const exitCode = errors.length > 0 ? 1 : failed && !warnOnly ? 5 : 0;
  const summary = summaryOf(checks, errors);
  return { kind: 'CheckReport', summary, checks, errors: [...errors], verdict: { exitCode, gates } };
}

function checkedObject({ spec, judged, manifest }: CheckInput['read'][number]): CheckedObject {
  const findings = judged.findings.map(({ path, ...one }) => ({
    ...one,
    field: path.length > 0 ? fieldOf(path) : undefined,
    file: manifest?.file,
    line: manifest?.lineOf(path),
  }));
  return { ...spec.subject, ...judged, findings };
}

const fieldOf = (path: Path): string =>
  path.map((step, at) => (typeof step === 'number' ? `[${step}]` : at === 0 ? step : `.${step}`)).join('');

const orderOf: readonly Judgement[] = ['problems', 'cannot-tell', 'no-problem-found'];

function worstFirst(a: CheckedObject, b: CheckedObject): number {
  const more = (severity: Severity): number => countOf(b, severity) - countOf(a, severity);
  return orderOf.indexOf(a.judgement) - orderOf.indexOf(b.judgement) || more('error') || more('warning');
}

const countOf = ({ findings }: CheckedObject, severity: Severity): number =>
  findings.filter((one) => one.severity === severity).length;

export const problemsOf = ({ findings }: CheckedObject): ReportedFinding[] =>
  findings.filter((one) => isProblem({ ...one, path: [] }));

function failOnGate(wanted: FailOn, checks: readonly CheckedObject[]): Gate {
  const found = checks.flatMap(({ findings }) => findings).filter((one) => isWanted(wanted, one));
  const passed = found.length === 0;
  const message = passed ? 'not found' : found.map(({ message: text }) => text).join('; ');
  return { name: `fail-on ${wanted}`, passed, message };
}

/** A severity means that one and graver ones; `any` means any problem. */
function isWanted(wanted: FailOn, { code, severity }: ReportedFinding): boolean {
  if (wanted === 'any') return severity !== 'info';
  const least = severities.indexOf(wanted as Severity);
  return least >= 0 ? severities.indexOf(severity) >= least : code === wanted;
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

/** As kubectl prints it, `deployment/checkout`, with its namespace in front where it has one. */
export const objectName = ({ kind, name, namespace }: Pick<Subject, 'kind' | 'name' | 'namespace'>): string =>
  `${namespace === undefined ? '' : `${namespace} `}${kind.toLowerCase()}/${name}`;
