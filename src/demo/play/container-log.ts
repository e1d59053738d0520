import { formatStamp, type Nanoseconds } from '../clock.ts';

export interface WrittenLine {
  stamp: Nanoseconds;
  text: string;
}

export class ContainerLog {
  /** The status of the recorded response to a request for this log, and its body unless it was 200. */
  status = 200;
  refusal?: unknown;
  lines: WrittenLine[] = [];
  ended = false;
  /** The clients that follow it. */
  readonly readers = new Set<{ line(line: WrittenLine): void; end(): void }>();

  write(line: WrittenLine): void {
    this.lines.push(line);
    for (const reader of [...this.readers]) reader.line(line);
  }

  end(): void {
    this.ended = true;
    for (const reader of [...this.readers]) reader.end();
    this.readers.clear();
  }
}

/** A line as `timestamps=true` shows it. */
export const stamped = ({ stamp, text }: WrittenLine): string => `${formatStamp(stamp, 9)} ${text}`;
