/** Many reports on one stdout: each as soon as it is there, the summary last. */
import type { ExitReport } from '../model/report.ts';
import type { Report } from '../verdict/report.ts';
import type { RolloutSummary } from '../verdict/rollout.ts';
import { PodexitError } from '../errors.ts';
import { jsonText } from '../render/json.ts';
import type { KeyOrder } from '../render/key-order.ts';
import { reportOrder } from '../render/key-order.ts';
import { rolloutNumbers } from '../verdict/rollout-summary.ts';
import { workloadKinds } from './target.ts';
import { shownText } from './finish.ts';
import type { Ports } from './ports.ts';
import { rolloutTerminal } from './rollout-terminal.ts';
import type { Traces } from './traces.ts';
import type { ExitOptions } from './trace-options.ts';

export interface RolloutOutput {
  /** Something was observed: for what is kept up to date. `target`: `deployment/checkout`. */
  step?(traces: Traces, target: string): void;
  /** A message for the person, where it must not tear the picture; false: it goes to stderr as it is. */
  say?(text: string): boolean;
  /** Gives the terminal back, whatever happened. */
  close?(): void;
  tell(report: Report): Promise<void>;
  end(reports: readonly ExitReport[], summary: RolloutSummary): Promise<void>;
}

/** Throws `usage.output` for formats that are one document, of which many make none. */
export function rolloutOutput({ format, look }: Pick<ExitOptions, 'format' | 'look'>, ports: Ports): RolloutOutput {
  const { stdout } = ports;
  const each = async (report: Report): Promise<string> => shownText(report, format, look, ports);
  switch (format.kind) {
    case 'json':
      return jsonOutput(ports);
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
      return rolloutTerminal(format.kind, look, ports);
    case 'wide':
    case 'markdown':
      return {
        tell: async (report) => stdout.write(`${await each(report)}\n`),
        end: async () => {},
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

/** One document: the RolloutReport of all pods. */
function jsonOutput({ stdout }: Ports): RolloutOutput {
  const reports: Report[] = [];
  return {
    tell: async (report) => void reports.push(report),
    end: async (exits, summary) => {
      const { target, exitCode, unseen } = summary;
      const { sentence } = rolloutNumbers(target, reports, [exitCode], unseen);
      const document = {
        apiVersion: 'podexit/v1',
        kind: 'RolloutReport',
        workload: workloadOf(target),
        summary: { ...summary, sentence },
        exits,
      };
      stdout.write(`${jsonText(document, documentOrder, 2)}\n`);
    },
  };
}

/** `deployment/checkout` as kind and name; a selector is its own name. */
function workloadOf(target: string): { kind: string; name: string } {
  const [kind = '', name] = target.split('/');
  const known = Object.values(workloadKinds).find((one) => one.kind.toLowerCase() === kind);
  return known && name !== undefined ? { kind: known.kind, name } : { kind: 'Selector', name: target };
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

const documentOrder: KeyOrder = {
  apiVersion: null,
  kind: null,
  workload: { kind: null, name: null },
  summary: { ...summaryOrder, sentence: null },
  exits: reportOrder,
};
