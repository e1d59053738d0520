/** The options of `watch`. */
import type { MetricsAddress } from './metrics.ts';
import type { RecordingFolder } from './recordings.ts';
import type { LookOptions } from '../output/view.ts';
import type { SeveralTarget } from '../run/choosing/target.ts';
import type { TraceOptions } from '../run/options.ts';

/** How exits are printed: `table` at a terminal. */
export type WatchFormat = 'table' | 'lines' | 'ndjson' | 'json';

/** A part of the namespaces: the `index`-th of `count`, counted from 1. */
export interface Shard {
  readonly index: number;
  readonly count: number;
}

export interface WatchOptions extends Pick<TraceOptions, 'connection' | 'verbosity' | 'followLogs' | 'command'> {
  /** Absent: every pod. */
  readonly target?: SeveralTarget | undefined;
  readonly allNamespaces: boolean;
  readonly format: WatchFormat;
  readonly look: LookOptions;
  readonly shard?: Shard | undefined;
  readonly metrics?: MetricsAddress | undefined;
  readonly recordings?: RecordingFolder | undefined;
  /** Send each exit as an OpenTelemetry trace. */
  readonly otlp: boolean;
  /** Post a Kubernetes Event for each exit that was not graceful. */
  readonly emitsEvents: boolean;
}
