/** What the report of every recording must contain. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { ContainerOutcome, FindingCode, Outcome, TriggerKind } from '../../src/model/report.ts';

export interface Expected {
  outcome: Outcome;
  /** The exit code of podexit. */
  exitCode: number;
  /** In order of exit. */
  containers: Record<string, ContainerOutcome>;
  trigger: TriggerKind;
  findings: FindingCode[];
  without?: FindingCode[];
}

const text = parse(readFileSync(new URL('expected.yaml', import.meta.url), 'utf8')) as {
  recordings: Record<string, Expected>;
  series: Record<string, Omit<Expected, 'trigger'>>;
};

export const expected = text.recordings;

/** The second series: failures of the cluster, and deletions of several pods. A row holds for each of its pods. */
export const expectedOfSeries = text.series;
