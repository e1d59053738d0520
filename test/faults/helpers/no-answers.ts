import type { Fault } from '../../sim/faults/fault.ts';

/** What a server may say to a question that tells nothing of what was asked for. */
export const noAnswers = (retryAfterSeconds: number): [how: string, Fault][] => [
  ['403', { kind: 'status', code: 403 }],
  ['429', { kind: 'status', code: 429, retryAfterSeconds }],
  ['500', { kind: 'status', code: 500 }],
  ['503', { kind: 'status', code: 503 }],
  ['nothing at all', { kind: 'hang' }],
];
