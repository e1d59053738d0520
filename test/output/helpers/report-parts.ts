/** Builders for parts of reports: seconds after the request become instants and marks. */
import type { Instant, MarkReport, MarkName, Time } from '../../../src/model/report.ts';

/** The moment of the request in every sample. */
const zero = Date.parse('2026-11-20T23:04:29.601Z');

export const time = (seconds: number): Time => new Date(zero + Math.round(seconds * 1000)).toISOString();

/** An observed instant. It still has a width. */
export const observed = (from: number, to: number, ...evidence: number[]): Instant => ({
  earliest: time(from),
  latest: time(to),
  basis: 'observed',
  evidence,
});

export const inferred = (from: number, to: number, ...evidence: number[]): Instant => ({
  ...observed(from, to, ...evidence),
  basis: 'inferred',
});

export function mark(name: MarkName, at: Instant, subject?: string, note?: string): MarkReport {
  const id = subject === undefined ? name : `${name}/${subject}`;
  return { id, name, at, ...(subject === undefined ? {} : { subject }), ...(note === undefined ? {} : { note }) };
}
