import { formatStamp, type Nanoseconds } from '../clock.ts';

/** What a container has written so far in this run. */
export interface ContainerLog {
  /** What a request for it was answered with when it was recorded. */
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
export interface LogHub {
  of(pod: string, container: string): ContainerLog;
  write(pod: string, container: string, stamp: Nanoseconds, text: string): void;
  end(pod: string, container: string): void;
  /** Ends whatever is still open of a pod. */
  endAll(pod: string): void;
}

export function createLogHub(): LogHub {
  const logs = new Map<string, ContainerLog>();

  function of(pod: string, container: string): ContainerLog {
    const key = `${pod}/${container}`;
    const log = logs.get(key) ?? { status: 200, lines: [], ended: false, readers: new Set() };
    logs.set(key, log);
    return log;
  }

  function close(log: ContainerLog): void {
    log.ended = true;
    for (const reader of [...log.readers]) reader.end();
    log.readers.clear();
  }

  return {
    of,
    write(pod, container, stamp, text) {
      const log = of(pod, container);
      log.lines.push({ stamp, text });
      for (const reader of [...log.readers]) reader.line(stamp, text);
    },
    end: (pod, container) => close(of(pod, container)),
    endAll(pod) {
      for (const [key, log] of logs) if (key.startsWith(`${pod}/`)) close(log);
    },
  };
}

/** A line as `timestamps=true` shows it. */
export const stamped = (stamp: Nanoseconds, text: string): string => `${formatStamp(stamp, 9)} ${text}`;
