/** Reports to test renderers: of each recording, and one in which every string that a cluster can choose attacks every format. */
import { recordingNames, reportToRender } from '../../helpers/recordings.ts';
import { exitReportOf } from '../../../src/verdict/exit-report.ts';
import type { Report } from '../../../src/verdict/report.ts';

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

export const recorded: readonly (readonly [string, Report])[] = await Promise.all(
  recordingNames.map(async (name) => [name, await reportToRender(name)] as const),
);

export const reportNamed = (name: string): Report => {
  const found = recorded.find(([one]) => one === name)?.[1];
  if (!found) throw new Error(`no recording ${name}`);
  return found;
};

/** Strings of our own: names from tables, which no cluster can choose. */
const ours: readonly string[] = 'code severity outcome basis mode judgement grade cause resource'.split(' ');

/** Replaces every such string by `hostileText` with a different number. */
function withHostileText(report: Report): Report {
  let count = 0;
  const spoil = (value: unknown, path: readonly string[]): unknown => {
    if (Array.isArray(value)) return value.map((item) => spoil(item, path));
    if (value instanceof Map) return value;
    if (typeof value === 'object' && value !== null)
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, spoil(item, [...path, key])]));
    const key = path.at(-1) ?? '';
    const isName = key === 'name' && (path.at(-2) === 'marks' || path.at(-2) === 'phases');
    const isOwner = key === 'owner' && path.includes('ledger');
    const isKind = key === 'kind' && path.at(-2) !== 'target' && path.at(-2) !== 'ownerReferences';
    if (typeof value !== 'string' || ours.includes(key) || isName || isOwner || isKind || path.includes('assumes'))
      return value;
    return `x${++count} ${hostileText}`;
  };
  return spoil(report, []) as Report;
}

export const hostileReport: Report = withHostileText(reportNamed('multi-container'));
export const hostileExit = exitReportOf(hostileReport);
