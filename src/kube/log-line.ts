import type { Stamped } from './log-limit.ts';

/** `2026-11-20T23:04:29.601234567Z text`; undefined for a line without a stamp, which is the kubelet's own remark. */
export function readLogLine(bytes: Buffer): Stamped | undefined {
  const space = bytes.subarray(0, longestStamp + 1).indexOf(0x20);
  const end = space === -1 ? bytes.length : space;
  const time = bytes.toString('latin1', 0, Math.min(end, longestStamp));
  if (!stamp.test(time)) return undefined;
  return { time, text: bytes.toString('utf8', end + 1).replace(/\r$/, '') };
}

/** Whether a stamp is later than another, to the nanosecond; both are UTC where the kubelet writes them. */
export function isLater(a: string, b: string): boolean {
  return padded(a) > padded(b);
}

const longestStamp = 40;
const stamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

/** Trailing zeros are not written, so the fraction has no fixed length: `…:05Z`, `…:05.1Z`. */
function padded(time: string): string {
  const [, seconds = '', fraction = ''] = /^(.{19})(?:\.(\d+))?/.exec(time) ?? [];
  return `${seconds}.${fraction.padEnd(9, '0')}`;
}
