/** What people see of a check: a card for one object, a table for several, worst first. The last line is the answer. */
import { forMarkdown, forTerminal } from '../render/safe-text.ts';
import type { Pen } from '../render/palette.ts';
import { objectName, problemsOf, type CheckedObject, type CheckReport, type ReportedFinding } from './check-report.ts';
import { columnsOf, wrapped } from './output.ts';

/** `asTable`: also of one object, where a whole namespace or folder was asked about. */
export function checkText(report: CheckReport, pen: Pen, columns: number, asTable: boolean): string {
  const [only] = report.checks;
  const body =
    report.checks.length === 1 && only && !asTable
      ? card(only, pen, columns)
      : [
          ...table(report.checks, pen),
          '',
          ...report.checks.filter(isBad).flatMap((one) => [...card(one, pen, columns), '']),
        ];
  const gates = report.verdict.gates
    .filter(({ passed }) => !passed)
    .map(({ name }) => pen.paint('bad', `gate failed: ${forTerminal(name)}`));
  const errors = report.errors.map(
    ({ file, line, message }) => `error  ${forTerminal(file)}:${line}: ${forTerminal(message)}`,
  );
  const lines = [...body, ...gates, ...errors, `${mark(report, pen)} ${forTerminal(report.summary)}`];
  return `${pen.letters(lines.join('\n').replace(/\n{3,}/g, '\n\n'))}\n`;
}

const isBad = ({ judgement }: CheckedObject): boolean => judgement !== 'no-problem-found';

/** No green tick: nothing has run. */
function mark({ checks, errors }: CheckReport, pen: Pen): string {
  if (errors.length > 0 || checks.some(({ judgement }) => judgement === 'problems'))
    return pen.paint('bad', pen.symbol('bad'));
  const isOpen = checks.length === 0 || checks.some(({ judgement }) => judgement === 'cannot-tell');
  return isOpen ? pen.paint('warning', pen.symbol('unknown')) : pen.paint('info', pen.symbol('info'));
}

function card(one: CheckedObject, pen: Pen, columns: number): string[] {
  const ink = one.judgement === 'problems' ? 'bad' : one.judgement === 'cannot-tell' ? 'warning' : 'info';
  const place = one.file === undefined ? '' : ` · ${one.file}:${one.line}`;
  const head = `${pen.paint(ink, forTerminal(one.sentence))}  ${forTerminal(objectName(one) + place)}`;
  const label = (text: string): string => `  ${text.padEnd(12)}`;
  const rows = one.findings.flatMap((finding) => [
    ...wrapped(label(finding.severity === 'info' ? 'note' : 'problem'), sentenceOf(finding), columns),
    ...(finding.advice === undefined ? [] : wrapped(label(''), `→ ${forTerminal(finding.advice)}`, columns)),
  ]);
  const open = one.cannotTell.flatMap(({ what, because }, index) =>
    wrapped(label(index === 0 ? 'cannot tell' : ''), forTerminal(`${what} (${because})`), columns),
  );
  const [first] = problemsOf(one);
  const details = first ? [`${label('details')}kubectl podexit explain ${first.code}`] : [];
  return [head, ...rows, ...open, ...details];
}

const sentenceOf = ({ message, file, line }: ReportedFinding): string =>
  forTerminal(`${message}${file === undefined ? '' : ` (${file}:${line})`}`);

function table(checks: readonly CheckedObject[], pen: Pen): string[] {
  if (checks.length === 0) return [];
  const rows = checks.map((one) => [
    one.namespace ?? '-',
    `${one.kind.toLowerCase()}/${one.name}`,
    one.judgement === 'cannot-tell' ? 'cannot tell' : one.sentence,
    [...new Set(problemsOf(one).map(({ code }) => code))].join(',') || '-',
  ]);
  const safe = rows.map((row) => row.map((cell) => forTerminal(cell, 80)));
  const [head = '', ...lines] = columnsOf([['NAMESPACE', 'WORKLOAD', 'RESULT', 'PROBLEMS'], ...safe]);
  return [pen.paint('strong', head), ...lines];
}

export function checkMarkdown({ checks, errors, summary }: CheckReport): string {
  const rows = checks.map(
    (one) =>
      `| ${forMarkdown(objectName(one))} | ${forMarkdown(one.sentence)} | ${one.findings
        .map((finding) => `\`${finding.code}\` ${forMarkdown(sentenceOf(finding))}`)
        .join('<br>')} |`,
  );
  const broken = errors.map(({ file, line, message }) => `- ${forMarkdown(`${file}:${line}: ${message}`)}`);
  return [
    `**${forMarkdown(summary)}**`,
    '',
    '| workload | result | findings |',
    '| --- | --- | --- |',
    ...rows,
    '',
    ...broken,
    '',
  ]
    .join('\n')
    .replace(/\n+$/, '\n');
}
