import type { KubeObject } from './data/kube-object.ts';

/**
 * One line of a recording, as a recorder of a real cluster wrote it. `at` is the recorder's clock, RFC 3339 with
 * milliseconds. A `truth` row is what the container runtime's own log says: no API client ever sees it.
 */
export type Row =
  | { type: 'about'; scenario: string; about: string; kubernetes?: string; runtime?: string }
  | { type: 'list'; at: string; resource: string; path: string; query?: string; date?: string; list: RecordedList }
  | { type: 'ready'; at: string }
  | { type: 'request'; at: string; method: string; path: string; body?: unknown }
  | ({ type: 'response'; at: string; method: string; path: string } & RecordedAnswer)
  | { type: 'watch'; at: string; resource: string; event: { type: string; object: KubeObject } }
  | { type: 'watch-end' | 'watch-error'; at: string; resource: string }
  | { type: 'log-open'; at: string; pod: string; container: string; status: number }
  | { type: 'log'; at: string; pod: string; container: string; line: string }
  | { type: 'log-end'; at: string; pod: string; container: string }
  | ({ type: 'truth' } & Truth);

export type RowOf<T extends Row['type']> = Extract<Row, { type: T }>;

interface RecordedList {
  kind: string;
  apiVersion: string;
  metadata: { resourceVersion?: string };
  items: KubeObject[] | null;
}

export interface RecordedAnswer {
  status: number;
  date?: string;
  body?: unknown;
}

/** What really happened to one container; times are RFC 3339 with nanoseconds, on the node's clock. */
export interface Truth {
  pod: string;
  container: string;
  stop_requested?: string;
  timeout_s?: number;
  stop_signal_sent?: string;
  signal?: string;
  sigkill_sent?: string;
  exited?: string;
  exit_status?: number;
}

export interface Scenario {
  name: string;
  about: string;
  rows: Row[];
}

/** Parses a recording. Throws an Error if it is none. */
export function parseScenario(text: string): Scenario {
  const rows = text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [JSON.parse(line) as Row]));
  const about = rows.find((row) => row.type === 'about');
  if (about === undefined) throw new Error('not a scenario: it has no "about" row');
  return { name: about.scenario, about: about.about, rows };
}
