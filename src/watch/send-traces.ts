/** `--otlp`: sends each exit as a trace, a few at a time; a collector that is down costs only traces. */
import type { OutputPorts } from '../output/ports.ts';
import { exitReportOf } from '../verdict/exit-report.ts';
import type { Report } from '../verdict/report.ts';

/** Traces that are sent at the same time, and that are sent or wait for it. */
const [mostSending, mostWaiting] = [4, 200];

export function createTraceSender(
  { env, version }: Pick<OutputPorts, 'env' | 'version'>,
  { warn, onDropped }: { warn: (message: string) => void; onDropped: () => void },
) {
  const lanes = Array.from({ length: mostSending }, () => Promise.resolve());
  let [count, waiting] = [0, 0];
  let isFailing = false;
  const send = async (report: Report): Promise<void> => {
    const { exportTrace } = await import('../export/export-trace.ts');
    const failure = await exportTrace(exitReportOf(report), { env, version });
    if (failure !== undefined) onDropped();
    if (failure !== undefined && !isFailing) warn(`traces are not exported: ${failure}`);
    isFailing = failure !== undefined;
  };
  return (report: Report): void => {
    if (waiting >= mostWaiting) return onDropped();
    waiting += 1;
    const lane = count++ % mostSending;
    lanes[lane] = lanes[lane]?.then(() => send(report)).finally(() => (waiting -= 1)) ?? Promise.resolve();
  };
}
