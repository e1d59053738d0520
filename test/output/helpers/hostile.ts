/** A report in which every string that a cluster can choose tries to break out of every format at once. */
import type { ExitReport } from '../../../src/model/report.ts';
import { reportOfRecording } from '../../helpers/recordings.ts';

export const hostileText = [
  '\x1b[2J\x1b]0;owned\x07\x1b]8;;http://evil\x07',
  '\u202egnp.exe\u2066\u2069\u200e\u061c',
  'a\r\nb\tc\u2028d\u2029e\x85f',
  '</script><script>document.title="owned"</script><img src=x onerror=\'document.title="owned"\'>',
  '<!--',
  ']]>',
  '&<>"\'`',
  '\0\x7f\x9b31m\ufffe\uffff',
  '\ud800 \udc00',
  '\u200b\u200d\ufeff\u00ad\u3164',
  '| ``` | @everyone #1 https://evil www.evil [x](javascript:alert(1)) ~~s~~',
  '::error title=x::y',
  '##[error]x ##vso[task.setvariable]y',
  '%0A%%{init: {}}%% :done, 2026-01-01, 1d; click a href "x"',
  '漢字 🙂 e\u0301',
].join(' ');

const graceful = await reportOfRecording('graceful-exit');
const gaps: ExitReport['gaps'] = [
  { resource: 'pod', from: graceful.grace.deadline, to: graceful.grace.deadline, cause: 'expired' },
  { resource: 'endpointslices', from: graceful.grace.deadline, cause: 'refused' },
];

/** Strings that the report format fixes: our own words and times. */
const ours = new Set([
  'apiVersion',
  'mode',
  'code',
  'severity',
  'outcome',
  'basis',
  'earliest',
  'latest',
  'judgement',
  'grade',
  'at',
  'from',
  'to',
]);
const ourNames = new Set(['marks', 'phases']);

/** Every string in the report is hostile, except those that the report format fixes. */
export function hostile(): ExitReport {
  const withHostileText = spoiltWith(hostileText);
  withHostileText.marks[3]!.note = `${hostileText}${'x'.repeat(1_000_000)}`;
  return withHostileText;
}

/** The same report with another hostile text. */
export function spoiltWith(text: string): ExitReport {
  return spoil(text, { ...graceful, gaps }, [], { count: 0 }) as ExitReport;
}

function spoil(text: string, value: unknown, path: string[], seen: { count: number }): unknown {
  if (Array.isArray(value)) return value.map((item) => spoil(text, item, path, seen));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, spoil(text, item, [...path, key], seen)]),
    );
  }
  if (typeof value !== 'string' || isOurs(path)) return value;
  // Each is different, so that the test detects a missing one.
  return `x${++seen.count} ${text}`;
}

function isOurs(path: string[]): boolean {
  const key = path.at(-1)!;
  if (ours.has(key) || key === 'deadline') return true;
  if (key === 'owner') return path.includes('ledger');
  if (key === 'kind') return !path.includes('owner');
  return key === 'name' && path.length === 2 && ourNames.has(path[0]!);
}
