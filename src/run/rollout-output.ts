/** Many reports on one stdout: each as soon as it is there, the summary last. */
import type { ExitReport } from '../model/report.ts';
import type { Report } from '../verdict/report.ts';
import type { RolloutSummary } from '../verdict/rollout.ts';
import { PodexitError } from '../errors.ts';
import { jsonText } from '../render/json.ts';
import type { KeyOrder } from '../render/key-order.ts';
import { reportOrder } from '../render/key-order.ts';
import { shownText } from './finish.ts';
import type { Ports } from './ports.ts';
import type { ExitOptions } from './trace-pod.ts';

export interface RolloutOutput {
  tell(report: Report): Promise<void>;
  end(reports: readonly ExitReport[], summary: RolloutSummary): Promise<void>;
}

/** Throws `usage.output` for formats that are one document, of which many make none. */
export function rolloutOutput({ format, look }: ExitOptions, ports: Ports): RolloutOutput {
  const { stdout } = ports;
  const each = async (report: Report): Promise<string> => shownText(report, format, look, ports);
  const summaryText = async (summary: RolloutSummary): Promise<string> =>
    (await import('../render/rollout.ts')).renderRollout(summary);
  switch (format.kind) {
    case 'json':
      return {
        tell: async () => {},
        end: async (items, summary) =>
          stdout.write(
            `${jsonText({ apiVersion: 'podexit/v1', kind: 'ExitReportList', items, summary }, listOrder, 2)}\n`,
          ),
      };
    case 'ndjson':
      return {
        tell: async (report) => stdout.write(await each(report)),
        end: async (_items, summary) => stdout.write(`${jsonText(summary, summaryOrder)}\n`),
      };
    case 'yaml':
      return {
        tell: async (report) => stdout.write(`---\n${await each(report)}`),
        end: async (_items, summary) => stdout.write(`---\n${jsonText(summary, summaryOrder, 2)}\n`),
      };
    case 'live':
    case 'lines':
    case 'wide':
    case 'markdown':
      return {
        tell: async (report) => stdout.write(`${await each(report)}\n`),
        end: async (_items, summary) => stdout.write(await summaryText(summary)),
      };
    case 'name':
      return { tell: async (report) => stdout.write(await each(report)), end: async () => {} };
    default:
      throw new PodexitError(
        'usage.output',
        `-o ${format.kind} is one document for one pod, and --all-terminating has several`,
        'Use -o lines, json, ndjson, yaml, wide, markdown or name, or write the documents with --report.',
      );
  }
}

const summaryOrder: KeyOrder = {
  apiVersion: null,
  kind: null,
  target: null,
  pods: null,
  outcomes: null,
  killed: null,
  unseen: null,
  slowest: null,
  graceUsed: null,
  exitCode: null,
};

const listOrder: KeyOrder = { apiVersion: null, kind: null, items: reportOrder, summary: summaryOrder };
