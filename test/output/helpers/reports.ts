/** Reports to test renderers: of each recording, and one in which every string is hostile. */
import { recordingNames, reportToRender } from '../../helpers/recordings.ts';
import type { Report } from '../../../src/verdict/report.ts';
import { hostileText } from './hostile.ts';

export const recorded: readonly (readonly [string, Report])[] = await Promise.all(
  recordingNames.map(async (name) => [name, await reportToRender(name)] as const),
);

export const reportNamed = (name: string): Report => {
  const found = recorded.find(([one]) => one === name)?.[1];
  if (!found) throw new Error(`no recording ${name}`);
  return found;
};

/** Strings of our own: names from tables, which no cluster can choose. */
const ours: ReadonlySet<string> = new Set([
  'code',
  'severity',
  'outcome',
  'basis',
  'mode',
  'judgement',
  'grade',
  'cause',
  'resource',
]);

/** Replaces every string that a cluster can choose by `text` with a different number. */
export function withHostileText(report: Report, text: string): Report {
  let count = 0;
  const spoil = (value: unknown, path: readonly string[]): unknown => {
    if (Array.isArray(value)) return value.map((item) => spoil(item, path));
    if (value instanceof Map) return value;
    if (typeof value === 'object' && value !== null)
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, spoil(item, [...path, key])]));
    const key = path.at(-1) ?? '';
    const isName = key === 'name' && (path.at(-2) === 'marks' || path.at(-2) === 'phases');
    const isKind = key === 'kind' && path.at(-2) !== 'target' && path.at(-2) !== 'ownerReferences';
    if (typeof value !== 'string' || ours.has(key) || isName || isKind || path.includes('assumes')) return value;
    return `x${++count} ${text}`;
  };
  return spoil(report, []) as Report;
}

export const hostileReport: Report = withHostileText(reportNamed('multi-container'), hostileText);
