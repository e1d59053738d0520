/** The question what a container's main process does with its stop signal, and the answer. */

export type Answer = 'yes' | 'no' | 'unknown';

/** As a pod's spec shows it: `command` replaces the image's ENTRYPOINT, `args` its CMD. Absent: not visible there. */
export interface ProgramContainer {
  command?: readonly string[];
  args?: readonly string[];
  /** Variables, each as NAME=VALUE in one line. */
  env?: readonly string[];
  image?: string;
  /** Scripts whose text is known, for example from a ConfigMap: the path in the container, and the text. */
  scripts?: ReadonlyMap<string, string>;
  /** With a shared process namespace, it is not PID 1. */
  sharesProcesses?: boolean;
}

/** What a program does with a signal; data/schema.json says what each word means. Wrappers: the second line too. */
export type Does =
  | ('drains' | 'waits' | 'cuts' | 'ends' | 'drops' | 'ignores' | 'reloads' | 'unknown')
  | ('execs' | 'forwards' | 'leaves');

/** One part of PID 1's command line: what starts the next one, or the application itself (the last). */
export interface Link {
  /** `shell-with-trap`: its trap for the signal runs as soon as the signal comes. */
  kind: 'shell' | 'shell-with-trap' | 'init' | 'wrapper' | 'manager' | 'runtime' | 'program' | 'unknown';
  name: string;
  does: Does;
  /** Where that is known from: the versions measured, or a page of its documentation. */
  source?: string;
}

/** Another way to start, stop or configure it, by which the application would end in time and without losses. */
export interface StopRemedy {
  kind: 'exec-form' | 'init' | 'stop-signal' | 'flag' | 'setting' | 'longer-grace' | 'trap';
  /** A sentence without its full stop. */
  text: string;
}

export interface StopBehaviour {
  /** The signal reaches the application at the end of the chain, and does not stop at a shell or wrapper before it. */
  reachesApp: Answer;
  /** PID 1 ends because of the signal: `no` means that only SIGKILL ends it. */
  handles: Answer;
  /** The application finishes what it is doing before it ends. */
  drains: Answer;
  /** The most seconds that it takes by a limit of its own, which cuts off what is left or ends it. */
  limitSeconds?: number;
  limitFrom?: string;
  /** Exit codes of PID 1 after a stop that finished the work, and after one that cut it off. Empty: not known. */
  exitCodes: { good: readonly number[]; cut: readonly number[] };
  /** The signal that makes it drain, if the one asked about does not: `SIGQUIT`. */
  rightSignal?: string;
  /** Measured in another version than the container's, or in none that can be compared. */
  probably: boolean;
  /** One sentence without its full stop. It never quotes an argument. */
  because: string;
  /** If an answer is unknown: what decides it, with both outcomes. */
  decidedBy?: string;
  remedy?: StopRemedy;
  /** From PID 1 inwards. */
  chain: readonly Link[];
}
