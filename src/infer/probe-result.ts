/** What one probe measured, as numbers: the model that verdict and renderers share. */
import type {
  NotMeasuredReason,
  ProbeConnection,
  ProbeFailureKind,
  ProbeTally,
  ProbeVia,
} from '../model/probe-observation.ts';
import type { ProbeReport } from '../model/report.ts';

/** Failures of one kind that follow each other closely; ms, client clock. */
export interface FailureStretch {
  readonly kind: ProbeFailureKind;
  readonly connection: ProbeConnection;
  readonly status?: number;
  readonly first: number;
  readonly last: number;
  readonly count: number;
  readonly seq: number;
}

/** A stretch in which requests failed, at most `windowGapMs` apart. */
export interface FailureWindow {
  readonly start: number;
  readonly end: number;
  readonly failed: number;
  readonly stretches: readonly FailureStretch[];
}

export interface ProbeResult {
  readonly target: string;
  readonly via: ProbeVia;
  readonly ratePerSecond: number;
  /** The uid of the pod that was asked, via `pod-proxy`. */
  readonly pod?: string;
  readonly sent: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly new: ProbeTally;
  readonly kept?: ProbeTally;
  readonly windows: readonly FailureWindow[];
  /** Slices of about half a second, for a lane of ticks. */
  readonly slices: readonly {
    readonly from: number;
    readonly to: number;
    readonly sent: number;
    readonly failed: number;
  }[];
  /** The target served after this moment: the last request that succeeded was sent then. */
  readonly answered?: { readonly last: number; readonly seq: number };
  /** Connections were refused from here on, and no later request was answered: the target had stopped listening by then. */
  readonly refusedBy?: { readonly at: number; readonly seq: number };
  readonly latencyMs: ProbeReport['latencyMs'];
  readonly notMeasured: readonly { readonly reason: NotMeasuredReason; readonly count: number }[];
}
