/** Compares a report with the true instants. */
import type { ExitReport, Instant } from '../../src/model/report.ts';
import type { Truth } from '../../src/demo/scenarios.ts';

export interface Held {
  container: string;
  instant: 'stop-signal' | 'kill' | 'exit';
  /** ms */
  width: number;
  hit: boolean;
}

/** Every instant that the report has and whose true time is known. `shiftMs` moves true times to the client's clock. */
export function heldAgainst(report: ExitReport, truths: readonly Truth[], shiftMs = 0): Held[] {
  return truths.flatMap((truth) => {
    const container = report.containers.find((one) => one.name === truth.container);
    const exited = container?.exit?.at ?? report.marks.find((mark) => mark.id === `exited/${truth.container}`)?.at;
    const pairs = [
      ['stop-signal', truth.stop_signal_sent, container?.stopSignal],
      ['kill', truth.sigkill_sent, container?.kill],
      ['exit', truth.exited, exited],
    ] as const;
    return pairs.flatMap(([instant, stamp, claimed]) =>
      stamp === undefined || claimed === undefined
        ? []
        : [hold(truth.container, instant, nanoTime(stamp) + shiftMs, claimed)],
    );
  });
}

function hold(container: string, instant: Held['instant'], truth: number, { earliest, latest }: Instant): Held {
  const from = Date.parse(earliest);
  const to = Date.parse(latest);
  return { container, instant, width: to - from, hit: from <= truth && truth <= to };
}

/** Converts RFC 3339 with nanoseconds to ms with a fraction. */
export function nanoTime(stamp: string): number {
  const [whole = '', fraction = '0Z'] = stamp.split('.');
  return Date.parse(`${whole.replace('Z', '')}Z`) + Number(`0.${fraction.replace('Z', '')}`) * 1000;
}
