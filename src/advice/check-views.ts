/** Formats of a check: a card or a table for people, SARIF 2.1.0 and JUnit XML for machines. Pure. */
import { command } from '../output/publish.ts';
import { forCommandProperty, forMarkdown, forTerminal } from '../output/safe-text.ts';
import type { Pen } from '../output/palette.ts';
import { gateCase, junitOf, type TestCase } from '../output/machine/junit.ts';
import {
  objectName,
  problemsIn,
  type CheckContent,
  type CheckedObject,
  type CheckReport,
  type ReportedFinding,
} from './check-report.ts';
import { tableLines } from '../output/text/table.ts';
import type { Views } from '../output/render.ts';
import { markdownPage, wrapped } from './output.ts';

/** `asTable`: print a table even for one object, because a whole namespace was checked. */
export const checkViews = (asTable: boolean): Omit<Views<CheckReport>, 'sentence'> => ({
  text: (report, pen, columns) => checkText(report, pen, columns, asTable),
  others: {
    markdown: checkMarkdown,
    sarif: (report) => `${JSON.stringify(sarifOf(report), null, 2)}\n`,
    junit: checkJunit,
  },
});

function checkText(report: CheckReport, pen: Pen, columns: number, asTable: boolean): string[] {
  const { checks, errors, verdict, summary } = report;
  const isCard = checks.length === 1 && !asTable;
  const attention = checks.filter(({ judgement }) => isCard || judgement !== 'no-problem-found');
  const lines = [
    ...(isCard ? [] : [...table(checks, pen, columns), '']),
    ...attention.flatMap((checked) => [...card(checked, pen, columns), ...(isCard ? [] : [''])]),
    ...checks.filter((one) => !attention.includes(one)).flatMap((checked) => openLines(checked, columns)),
    ...verdict.gates
      .filter(({ passed }) => !passed)
      .map(({ name, message }) => pen.paint('bad', `gate failed: ${forTerminal(`${name}: ${message}`)}`)),
    ...errors.map(({ file, line, message }) => `error  ${forTerminal(file)}:${line}: ${forTerminal(message)}`),
    `${mark(report, pen)} ${forTerminal(summary)}`,
  ];
  return lines.filter((line, at) => line !== '' || (at > 0 && lines[at - 1] !== ''));
}

/** Never green: a check runs nothing, so it proves nothing. */
const inks = { problems: 'bad', 'cannot-tell': 'warning', 'no-problem-found': 'info' } as const;

function mark({ checks: [worst], errors }: CheckReport, pen: Pen): string {
  const ink = errors.length > 0 ? 'bad' : inks[worst?.judgement ?? 'cannot-tell'];
  return pen.paint(ink, pen.symbol(ink === 'warning' ? 'unknown' : ink));
}

function card(checked: CheckedObject, pen: Pen, columns: number): string[] {
  const place = checked.file === undefined ? '' : ` · ${checked.file}:${checked.line}`;
  const head = `${pen.paint(inks[checked.judgement], forTerminal(resultOf(checked)))}  ${forTerminal(objectName(checked) + place)}`;
  const row = (label: string, text: string): string[] => wrapped(`  ${label.padEnd(12)}`, forTerminal(text), columns);
  // Problems with the same remedy: it is said once, below the last.
  const isSaidBelow = (finding: ReportedFinding): boolean =>
    checked.findings.findLast(({ advice }) => advice === finding.advice) !== finding;
  const findings = checked.findings.flatMap((finding) => [
    ...row(finding.severity === 'info' ? 'note' : 'problem', sentenceOf(finding)),
    ...(finding.advice === undefined || isSaidBelow(finding) ? [] : row('', `→ ${finding.advice}`)),
  ]);
  const unknowns = checked.cannotTell.flatMap(({ what, because }, index) =>
    row(index === 0 ? 'cannot tell' : '', `${what} (${because})`),
  );
  const [first] = problemsIn(checked);
  const details = first ? [`  details     kubectl podexit explain ${first.code}`] : [];
  return [head, ...findings, ...unknowns, ...details];
}

function openLines(checked: CheckedObject, columns: number): string[] {
  const open = checked.cannotTell.map(({ what }) => what).join('; ');
  return open === '' ? [] : wrapped('cannot tell ', forTerminal(`${objectName(checked)}: ${open}`), columns);
}

const resultOf = ({ judgement, sentence }: CheckedObject): string =>
  judgement === 'cannot-tell' ? 'cannot tell' : sentence;

const sentenceOf = ({ message, file, line }: ReportedFinding): string =>
  `${message}${file === undefined ? '' : ` (${file}:${line})`}`;

function table(checks: readonly CheckedObject[], pen: Pen, columns: number): string[] {
  if (checks.length === 0) return [];
  const rows = checks.map((checked) => [
    forTerminal(checked.namespace ?? '-', 80),
    forTerminal(`${checked.kind.toLowerCase()}/${checked.name}`, 80),
    resultOf(checked),
    [...new Set(problemsIn(checked).map(({ code }) => code))].join(',') || '-',
  ]);
  return tableLines(pen, [['NAMESPACE', 'WORKLOAD', 'RESULT', 'PROBLEMS'], ...rows], columns);
}

/** Workflow commands for GitHub Actions, at the lines of the manifests. */
export function checkAnnotations({ checks, errors, verdict }: CheckContent): string[] {
  const level = verdict.exitCode === 0 ? 'warning' : 'error';
  const place = (file?: string, line?: number): string =>
    file === undefined ? '' : `file=${forCommandProperty(file)},line=${line ?? 1},`;
  return [
    ...checks.flatMap((checked) =>
      problemsIn(checked).map(({ code, message, advice, file, line }) =>
        command(level, `${code}: ${objectName(checked)}`, [message, advice], place(file, line)),
      ),
    ),
    ...errors.map(({ file, line, message }) => command('error', 'input', [message], place(file, line))),
  ];
}

export function checkMarkdown({ checks, errors, summary }: CheckContent): string {
  const rows = checks.map((checked) => [
    forMarkdown(objectName(checked)),
    forMarkdown(checked.sentence),
    checked.findings.map((finding) => `\`${finding.code}\` ${forMarkdown(sentenceOf(finding))}`).join('<br>'),
  ]);
  const broken = errors.map(({ file, line, message }) => `- ${forMarkdown(`${file}:${line}: ${message}`)}`);
  return markdownPage(summary, ['workload', 'result', 'findings'], rows, broken);
}

/** SARIF 2.1.0: one run, one result per finding. Objects read from a cluster have only a logical location. */
function sarifOf({ checks, errors, run }: CheckReport): object {
  const results = checks.flatMap((checked) => checked.findings.map((finding) => sarifResult(checked, finding)));
  const codes = [...new Set(results.map(({ ruleId }) => ruleId))].sort();
  const notifications = errors.map(({ file, line, message }) => ({
    level: 'error',
    message: { text: message },
    locations: [{ physicalLocation: physicalLocation(file, line) }],
  }));
  const rules = codes.map((id) => ({ id, shortDescription: { text: `kubectl podexit explain ${id}` } }));
  const tool = { driver: { name: 'kubectl-podexit', version: run.version, rules } };
  const invocations = [{ executionSuccessful: errors.length === 0, toolExecutionNotifications: notifications }];
  const $schema = 'https://json.schemastore.org/sarif-2.1.0.json';
  return { $schema, version: '2.1.0', runs: [{ tool, invocations, results }] };
}

function sarifResult(checked: CheckedObject, { code, severity, message, advice, field, file, line }: ReportedFinding) {
  const fullyQualifiedName = `${objectName(checked)}${field === undefined ? '' : `#${field}`}`;
  const location = {
    physicalLocation: file === undefined || line === undefined ? undefined : physicalLocation(file, line),
    logicalLocations: [{ name: checked.name, fullyQualifiedName, kind: 'resource' }],
  };
  return {
    ruleId: code,
    level: severity === 'info' ? 'note' : severity,
    message: { text: advice === undefined ? message : `${message}. ${advice}` },
    locations: [location],
  };
}

/** URIs use forward slashes on every system; standard input has no path. */
const physicalLocation = (file: string, line: number) => ({
  artifactLocation: { uri: file === '<stdin>' ? 'stdin' : encodeURI(file.replaceAll('\\', '/')) },
  region: { startLine: line },
});

/** One case per object, gate and unreadable input. An object with problems fails if the whole check fails. */
function checkJunit({ checks, errors, verdict: { exitCode, gates } }: CheckReport): string {
  const cases = [
    ...checks.map((checked) => objectCase(checked, exitCode !== 0)),
    ...gates.map((gate) => gateCase(gate, 'gate', exitCode)),
    ...errors.map(({ file, line, message }) => ({
      classname: 'input',
      name: `${file}:${line}`,
      fault: failure([message]),
    })),
  ];
  return junitOf('podexit check', 0, NaN, {}, cases);
}

function objectCase(checked: CheckedObject, checkFails: boolean): TestCase {
  const problems = problemsIn(checked).map(
    ({ code, message, file, line }) => `${file === undefined ? '' : `${file}:${line}: `}${code}: ${message}`,
  );
  const open = checked.cannotTell.map(({ what, because }) => `cannot tell: ${what} (${because})`);
  const output = [checked.sentence, ...problems, ...open];
  const fault = checkFails && problems.length > 0 ? failure(problems) : undefined;
  return { classname: checked.kind.toLowerCase(), name: objectName(checked), fault, output };
}

const failure = (lines: readonly string[]) => ({ kind: 'failure', message: lines[0] ?? '', lines }) as const;
