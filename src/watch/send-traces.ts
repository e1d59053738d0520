/** `--otlp`: sends each exit as a trace, a few at a time; a collector that is down costs only traces. */
import type { OutputPorts } from '../output/ports.ts';
import { exitReportOf } from '../verdict/exit-report.ts';
import type { Report } from '../verdict/report.ts';

/** Traces that are sent, and that wait to be sent, at the same time. */
const [mostSending, mostWaiting] = [4, 200];

export function createTraceSender(
  { env, version }: Pick<OutputPorts, 'env' | 'version'>,
  { warn, onDropped }: { warn: (message: string) => void; onDropped: () => void },
) {
  const waiting: Report[] = [];
  let sending = 0;
  let isFailing = false;
  const send = async (report: Report): Promise<void> => {
    const { exportTrace } = await import('../export/export-trace.ts');
    const failure = await exportTrace(exitReportOf(report), { env, version });
    if (failure !== undefined) onDropped();
    if (failure !== undefined && !isFailing) warn(`traces are not exported: ${failure}`);
    isFailing = failure !== undefined;
  };
  const next = (): void => {
    const report = sending < mostSending ? waiting.shift() : undefined;
    if (!report) return;
    sending += 1;
    void send(report).finally(() => {
      sending -= 1;
      next();
    });
  };
  return (report: Report): void => {
    if (waiting.length >= mostWaiting) return onDropped();
    waiting.push(report);
    next();
  };
}
