/** What `why` has found of one exit, and how it is told from the report of a replay. */
import { asObject, asString } from '../../model/observe/read.ts';
import type { Json } from '../../model/observe/read.ts';
import { outcomes } from '../../model/report.ts';
import type { WhyReport } from './report.ts';

/** What `replay FILE` prints with these words behind it. */
export type ReplayText = (file: string, words: readonly string[]) => Promise<string>;

export interface Found {
  report: Omit<WhyReport, 'apiVersion' | 'kind' | 'verdict' | 'run'>;
  /** How a recording's own report is shown. */
  card: string;
}

/** Of an exit report. */
export function ofExit(exit: Json, basis: WhyReport['basis'], heading: string): Found['report'] {
  const pod = asObject(exit['pod']);
  const outcome = outcomes.find((one) => one === asObject(exit['verdict'])['outcome']) ?? 'unknown';
  return {
    pod: {
      namespace: asString(pod['namespace']) ?? '',
      name: asString(pod['name']) ?? '',
      uid: asString(pod['uid']),
      node: asString(pod['node']),
    },
    basis,
    heading,
    outcome,
    summary: asString(exit['summary']) ?? outcome,
    trigger: (asString(asObject(exit['trigger'])['kind']) ?? 'unknown') as WhyReport['trigger'],
    moments: [],
    cannotTell: [],
    exit,
  };
}
