/** A CheckReport for machines: SARIF 2.1.0 and JUnit XML. Pure. */
import type { Severity } from '../model/report.ts';
import { writeXml, type XmlElement } from '../render/xml.ts';
import { objectName, problemsOf, type CheckedObject, type CheckReport, type ReportedFinding } from './check-report.ts';

const levels: Record<Severity, string> = { error: 'error', warning: 'warning', info: 'note' };

/** SARIF 2.1.0: one run, one result for each finding. What was read from a cluster has a logical location alone. */
export function sarifOf({ checks, errors, run }: CheckReport): object {
  const results = checks.flatMap((one) => one.findings.map((finding) => sarifResult(one, finding)));
  const codes = [...new Set(results.map(({ ruleId }) => ruleId))].sort();
  const notifications = errors.map(({ file, line, message }) => ({
    level: 'error',
    message: { text: message },
    locations: [{ physicalLocation: physical(file, line) }],
  }));
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'kubectl-podexit',
            version: run.version,
            rules: codes.map((id) => ({ id, shortDescription: { text: `kubectl podexit explain ${id}` } })),
          },
        },
        invocations: [{ executionSuccessful: errors.length === 0, toolExecutionNotifications: notifications }],
        results,
      },
    ],
  };
}

function sarifResult(one: CheckedObject, { code, severity, message, advice, field, file, line }: ReportedFinding) {
  const fullyQualifiedName = `${objectName(one)}${field === undefined ? '' : `#${field}`}`;
  return {
    ruleId: code,
    level: levels[severity],
    message: { text: advice === undefined ? message : `${message}. ${advice}` },
    locations: [
      {
        physicalLocation: file === undefined || line === undefined ? undefined : physical(file, line),
        logicalLocations: [{ name: one.name, fullyQualifiedName, kind: 'resource' }],
      },
    ],
  };
}

/** A URI has forward slashes, whatever the system has; standard input has no address. */
const physical = (file: string, line: number) => ({
  artifactLocation: { uri: file === '<stdin>' ? 'stdin' : encodeURI(file.replaceAll('\\', '/')) },
  region: { startLine: line },
});

/** One case for each object and for each gate; an object fails where a gate that failed names one of its findings. */
export function checkJunit({ checks, errors, verdict }: CheckReport): string {
  const isRed = verdict.exitCode !== 0;
  const cases = [
    ...checks.map((one) => objectCase(one, isRed)),
    ...verdict.gates.map(({ name, passed, message }) =>
      junitCase('gate', name, isRed && !passed ? message : undefined),
    ),
    ...errors.map(({ file, line, message }) => junitCase('input', `${file}:${line}`, message)),
  ];
  const failures = cases.filter(({ children = [] }) => children.some(({ name }) => name === 'failure')).length;
  const totals = { tests: cases.length, failures, errors: 0 };
  const suite: XmlElement = { name: 'testsuite', attributes: { name: 'podexit check', ...totals }, children: cases };
  return writeXml({ name: 'testsuites', attributes: { name: 'podexit', ...totals }, children: [suite] });
}

function objectCase(one: CheckedObject, isRed: boolean): XmlElement {
  const problems = problemsOf(one).map(
    ({ code, message, file, line }) => `${file === undefined ? '' : `${file}:${line}: `}${code}: ${message}`,
  );
  const open = one.cannotTell.map(({ what, because }) => `cannot tell: ${what} (${because})`);
  const failure = isRed && problems.length > 0 ? problems.join('\n') : undefined;
  const element = junitCase(one.kind.toLowerCase(), objectName(one), failure);
  const output: XmlElement = { name: 'system-out', lines: [one.sentence, ...problems, ...open] };
  return { ...element, children: [...(element.children ?? []), output] };
}

const junitCase = (classname: string, name: string, failure?: string): XmlElement => ({
  name: 'testcase',
  attributes: { classname, name },
  children:
    failure === undefined
      ? []
      : [{ name: 'failure', attributes: { message: failure.split('\n')[0] ?? '' }, lines: failure.split('\n') }],
});
