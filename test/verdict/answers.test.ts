/** The answer of every recording: it fits the exit code, and its sentences lack no value. */
import { describe, expect, it } from 'vitest';
import { renderJson } from '../../src/output/machine/json.ts';
import { exitReportOf } from '../../src/verdict/exit-report.ts';
import type { Report } from '../../src/verdict/report.ts';
import { allNames, tracedPodsOf } from '../helpers/recordings.ts';
import { faultsBy } from '../helpers/schemas.ts';

const reportsOf = async (name: string): Promise<Report[]> =>
  (await tracedPodsOf(name)).slice(0, 2).map(({ report }) => report);

const words: Record<number, RegExp> = {
  0: /^(Graceful|Removed)$/,
  2: /^(SIGKILLed|OOMKilled|Exited \d+|Exited late|Force-deleted)$/,
  3: /^(Stuck|Not started)$/,
  4: /^Unknown$/,
};

describe.each(allNames)('%s', (name) => {
  it('has an answer with a word that fits its exit code, and no missing or impossible value', async () => {
    const reports = await reportsOf(name);
    expect(reports.length).toBeGreaterThan(0);
    for (const { verdict, answer } of reports) {
      expect(answer.word).toMatch(words[verdict.exitCode] ?? /^$/);
      const { headline, summary, why, advice, traffic } = answer;
      const said = [headline, summary, why, ...advice, traffic.reason].join('\n');
      expect(said).not.toMatch(/NaN|Infinity|undefined|null|\d \d|\b1[0-9]{2,}%/);
      expect(answer.traffic.reason).not.toBe('');
    }
  });

  it('has a finding of severity error exactly if the exit code is 2 and the deletion was not forced', async () => {
    for (const { verdict } of await reportsOf(name))
      expect(verdict.findings.some(({ severity }) => severity === 'error')).toBe(
        verdict.exitCode === 2 && !isForced(verdict),
      );
  });

  it('fits its JSON Schema', async () => {
    for (const report of await reportsOf(name)) {
      const document = JSON.parse(renderJson(exitReportOf(report))) as unknown;
      expect(faultsBy('exit-report', document)).toEqual([]);
    }
  });
});

/** A forced deletion is what the user requested, so it is not an error. */
const isForced = ({ outcome }: Report['verdict']): boolean => outcome === 'forced';
