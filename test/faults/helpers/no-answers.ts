import type { Fault } from '../../sim/faults/fault.ts';

/** Responses that contain nothing about the requested object. */
export const noAnswers = (retryAfterSeconds: number): [how: string, Fault][] => [
  ['403', { kind: 'status', code: 403 }],
  ['429', { kind: 'status', code: 429, retryAfterSeconds }],
  ['nothing at all', { kind: 'hang' }],
];
