import { usageError } from './usage.ts';

const units: Record<string, number> = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** 24 days. A timer of Node holds no more than 2^31 - 1 ms, and rings at once beyond that. */
const longestMs = 576 * 3_600_000;

/**
 * A Go duration (`90s`, `1h30m`, `1.5s`, `0`) in milliseconds, rounded up to
 * whole ones, since Node's timers take no others. `flag` is named in the error.
 * Throws PodexitError `usage.duration` for what Go does not read, and for more than 24 days.
 */
export function parseDuration(text: string, flag: string): number {
  if (/^[+-]?0$/.test(text)) return 0;
  const parts = [...text.matchAll(/(\d+(?:\.\d*)?|\.\d+)(ns|us|\u00b5s|ms|s|m|h)/g)];
  const total = parts.reduce((sum, [, count, unit]) => sum + Number(count) * (units[unit ?? ''] ?? 0), 0);
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== text || !Number.isFinite(total))
    throw usageError('duration', `${flag}: "${text}" is not a duration`, 'Write it as Go does: 90s, 2m, 1h30m, 500ms.');
  if (total > longestMs)
    throw usageError('duration', `${flag}: "${text}" is too long`, 'At most 576h (24 days); 0 means no limit.');
  return Math.ceil(total);
}
