/** The few figures that every document leads with, in words. */
import type { ExitReport, Range } from '../model/report.ts';
import type { Measured } from '../verdict/figures.ts';
import { lasted, usedOfGrace } from '../verdict/figures.ts';
import { formatSeconds, formatShare, formatSpread } from './duration.ts';

/** From the request until the object was gone; undefined while it is still there. */
export function describeLasted(report: ExitReport): string | undefined {
  const measured = lasted(report);
  return measured && formatLasted(measured.range, measured.basis);
}

/** Beside the findings' own figures a middle would contradict them, so both ends are told. */
export const formatLasted = (range: Range, basis?: Measured['basis']): string =>
  range.max - range.min > notable ? formatSpread(range) : formatSeconds(range, basis);

/** Seconds. */
const notable = 0.5;

/** The most of the grace that a container used. */
export function describeUsed(report: ExitReport): string | undefined {
  const measured = usedOfGrace(report);
  return measured && formatShare(measured.range, measured.basis);
}

/** What the report's trigger means to a reader. */
export const triggerText: Record<ExitReport['trigger']['kind'], string> = {
  'this-command': 'this command',
  'eviction-api': 'the Eviction API',
  preemption: 'preemption by a more important pod',
  taint: 'a taint on its node',
  'device-taint': 'a taint on a device',
  'pod-gc': 'the pod garbage collector',
  rollout: 'a rollout of its owner',
  'scale-down': 'a scale-down of its owner',
  'owner-deleted': 'the deletion of its owner',
  job: 'its Job',
  'namespace-deletion': 'the deletion of its namespace',
  unknown: 'unknown',
};
