import { formatStamp, type Nanoseconds } from '../clock.ts';

/** What a container has written so far in this run. */
export interface ContainerLog {
  /** The status of the recorded response to a request for this log. */
  status: number;
  refusal?: unknown;
  lines: { stamp: Nanoseconds; text: string }[];
  ended: boolean;
  readers: Set<LogReader>;
}

export interface LogReader {
  line(stamp: Nanoseconds, text: string): void;
  end(): void;
}

/** The logs of all containers, by pod and container. */
export class LogHub {
  readonly #logs = new Map<string, ContainerLog>();

  of(pod: string, container: string): ContainerLog {
    const key = `${pod}/${container}`;
    const log = this.#logs.get(key) ?? { status: 200, lines: [], ended: false, readers: new Set() };
    this.#logs.set(key, log);
    return log;
  }

  write(pod: string, container: string, stamp: Nanoseconds, text: string): void {
    const log = this.of(pod, container);
    log.lines.push({ stamp, text });
    for (const reader of [...log.readers]) reader.line(stamp, text);
  }

  end(pod: string, container: string): void {
    close(this.of(pod, container));
  }

  /** Ends all logs of a pod. */
  endAll(pod: string): void {
    for (const [key, log] of this.#logs) if (key.startsWith(`${pod}/`)) close(log);
  }
}

function close(log: ContainerLog): void {
  log.ended = true;
  for (const reader of [...log.readers]) reader.end();
  log.readers.clear();
}

/** A line as `timestamps=true` shows it. */
export const stamped = (stamp: Nanoseconds, text: string): string => `${formatStamp(stamp, 9)} ${text}`;
