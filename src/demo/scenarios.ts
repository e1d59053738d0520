/** The scenarios of `demo`: recordings of a real cluster, shipped compressed beside this file or beside the bundle. */
import type { KubeObject } from './data/kube-object.ts';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

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

export interface ShippedScenario {
  name: string;
  /** Its file below test/scenarios; by default the one with its name. */
  recording?: string;
  about: string;
  /** The scenario whose file is played; by default its own. */
  plays?: string;
  /** How long a load balancer still sends to the deleted pod, in ms; the demo probes through it (balancer.ts). */
  lateBalancerMs?: number;
  /** A Service that gets another ready endpoint, because the recorded pod was its only one. */
  secondEndpointOf?: string;
  /** The scenario in which the problem is fixed. */
  fixed?: string;
  /** The command line; by default the recorded pod is traced. */
  words?: readonly string[];
}

/** In the order in which a newcomer may want to see them. */
export const shippedScenarios: readonly ShippedScenario[] = [
  {
    name: 'graceful-exit',
    about:
      'Deployment of 2 behind a Service, grace period 10 s: the app drains 3 s and exits 0 while a replacement starts.',
    fixed: 'lost-requests-fixed',
  },
  {
    name: 'lost-requests',
    plays: 'graceful-exit',
    about:
      'The same exit, probed 20 times a second through a load balancer that learns of the removal 1.5 s late: graceful, and yet clients lose requests.',
    lateBalancerMs: 1500,
    fixed: 'lost-requests-fixed',
  },
  {
    name: 'lost-requests-fixed',
    plays: 'prestop-sleep',
    about:
      'The same late load balancer, but a preStop sleep of 4 s lets the app serve until nobody is sent to it: no request is lost.',
    lateBalancerMs: 1500,
    secondEndpointOf: 'api',
  },
  {
    name: 'sigkill-after-grace',
    about: 'The same Deployment, but the app ignores SIGTERM: it is killed at the end of its grace period of 6 s.',
    fixed: 'graceful-exit',
  },
  {
    name: 'prestop-exceeds-grace',
    about: 'The preStop hook sleeps 30 s, the grace period is 5 s: SIGTERM comes at its end, 2 s before SIGKILL.',
    fixed: 'prestop-sleep',
  },
  {
    name: 'prestop-sleep',
    about: 'A preStop sleep of 4 s gives load balancers time, then the app drains 2 s and exits 0; grace period 10 s.',
  },
  {
    name: 'rollout',
    recording: 'second/rollout-25',
    about: 'A rollout replaces the 25 pods of a Deployment; each drains 2 s and exits 0.',
    words: ['deployment/checkout', '--all-terminating'],
  },
  {
    name: 'lost-requests-rollout',
    recording: 'second/rollout-25',
    plays: 'rollout',
    about:
      'The same rollout, probed through a load balancer that learns of each removal 1.5 s late: every pod is graceful, and yet clients lose requests.',
    lateBalancerMs: 1500,
    words: ['rollout', 'deployment/checkout'],
  },
  {
    name: 'check',
    plays: 'sigkill-after-grace',
    about: 'What podexit check predicts of an app that ignores SIGTERM, without deleting anything.',
    words: ['check', 'deployment/checkout'],
  },
  {
    name: 'fix',
    plays: 'sigkill-after-grace',
    about: 'The patch that podexit fix prints for it; nothing is applied.',
    words: ['fix', 'deployment/checkout'],
  },
  {
    name: 'multi-container',
    about:
      'Three containers, grace period 6 s: web exits 0 after 1 s, worker exits 143 at once, legacy ignores SIGTERM.',
    fixed: 'native-sidecar',
  },
  {
    name: 'native-sidecar',
    about: 'Two native sidecars stop after the app, in reverse order; grace period 12 s.',
  },
  {
    name: 'prestop-fails',
    about: 'The preStop hook exits 3, so SIGTERM comes early; the app exits 0.',
    fixed: 'prestop-sleep',
  },
  {
    name: 'finalizer',
    about: 'A finalizer keeps the finished pod for some seconds, until it is patched away.',
  },
  {
    name: 'force-delete',
    about: 'Grace period 0: the object is gone at once, while the container still runs.',
    fixed: 'graceful-exit',
  },
  {
    name: 'statefulset',
    about: 'The replacement of a StatefulSet pod has the same name; it is created only after the removal.',
  },
  {
    name: 'rolling-update',
    about: 'A rollout deletes the one pod of a Deployment; podexit attaches to it.',
  },
  {
    name: 'two-services',
    about: 'A pod behind two Services; one of them publishes endpoints that are not ready.',
  },
  {
    name: 'kubelet-restart',
    about:
      'The kubelet is killed during a termination and comes back: the log ends early, and the grace period starts again.',
  },
  {
    name: 'exit-143',
    about: 'The app has no handler that exits 0: SIGTERM ends it at once, with exit code 143.',
  },
];

/** The scenario with that name, else all scenarios whose names start with it. */
export function scenariosNamed(name: string): ShippedScenario[] {
  const exact = shippedScenarios.find((one) => one.name === name);
  return exact ? [exact] : shippedScenarios.filter((one) => one.name.startsWith(name));
}

/** Reads a shipped scenario. Throws if the program was installed without its scenarios. */
export function loadScenario({ name, plays = name }: ShippedScenario): Scenario {
  const file = folders.map((folder) => `${folder}${plays}.ndjson.gz`).find((path) => existsSync(path));
  if (file === undefined) throw new Error(`the file of the scenario "${name}" is missing in ${folders[0]}`);
  return parseScenario(gunzipSync(readFileSync(file)).toString('utf8'));
}

/** Beside the bundle, beside a chunk of it, or beside this file. */
const folders = ['./scenarios/', '../scenarios/'].map((path) => fileURLToPath(new URL(path, import.meta.url)));
