/** A finding with what only people are shown: where it stands on the card, and how it reads as a part of a sentence. */
import type { Finding, FindingCode, Verdict } from '../model/report.ts';

export interface JudgedFinding extends FindingDraft {
  /** In which row of the card it stands: findings of one row share a cause. */
  readonly row: FindingRow;
}

/** As the rules make it. */
export interface FindingDraft extends Finding {
  readonly container?: string;
  /** As a part of a sentence: `finalizer example.com/audit held the pod for 5.6s`. */
  readonly clause?: string;
  /** What shows it, or explains it, where the clause does not say so. */
  readonly why?: string;
  /** How much longer the exit took because of it, ms. */
  readonly cost?: number;
  /** A longer grace period would have helped. */
  readonly needsGrace?: boolean;
}

export interface JudgedVerdict extends Verdict {
  findings: JudgedFinding[];
}

/** The rows of the card. */
export type FindingRow = 'exit' | 'traffic' | 'capacity' | 'accuracy';

const rows: Partial<Record<FindingCode, FindingRow>> = {
  'drain-race': 'traffic',
  'stays-ready': 'traffic',
  'endpoint-not-removed': 'traffic',
  'requests-lost': 'traffic',
  'last-endpoint': 'capacity',
  'no-ready-endpoint': 'capacity',
  'unmanaged-pod': 'capacity',
  'evidence-lost': 'accuracy',
};

export const inRow = (finding: FindingDraft): JudgedFinding => ({ ...finding, row: rows[finding.code] ?? 'exit' });
