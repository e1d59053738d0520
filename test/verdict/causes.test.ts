/** The cause of an exit on the card's first two lines and in the ledger, by recordings of a real cluster. */
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { missingReplacementText } from '../../src/run/group/finish.ts';
import { deletedText } from '../../src/output/pod-facts.ts';
import type { RawObservation } from '../../src/model/observation.ts';
import type { ExitReport, LedgerOwner } from '../../src/model/report.ts';
import type { Report } from '../../src/verdict/report.ts';
import { runMain } from '../cli/helpers/in-process.ts';
import { casesIn, pattern } from '../helpers/case-file.ts';
import { mustRender, observationsOf, rawObservationsIn, traceOf } from '../helpers/recordings.ts';

const ownRecording = (name: string): string => fileURLToPath(new URL(`recordings/${name}.ndjson`, import.meta.url));

const reportIn = async (file: string): Promise<Report> =>
  mustRender(traceOf(observationsOf(await rawObservationsIn(file))));

interface Cause {
  /** Below test. */
  file: string;
  says: string;
  saysNot?: string;
  owner?: LedgerOwner;
}

describe('the first two lines of the card name', () => {
  const causes = casesIn<Cause>(new URL('causes.yaml', import.meta.url), ['file', 'says', 'saysNot', 'owner']);

  it.each(causes)('%s', async (_, { file, says, saysNot, owner }) => {
    const report = await reportIn(fileURLToPath(new URL(`../${file}`, import.meta.url)));
    const lines = [report.answer.headline, deletedText(report)].join('\n');
    expect(lines).toMatch(pattern(says));
    if (saysNot) expect(lines).not.toMatch(pattern(saysNot));
    const [longest] = [...report.ledger].sort((a, b) => b.seconds - a.seconds);
    expect(longest?.owner).toBe(owner);
  });
});

it.each(['slow-webhook', 'slow-webhook-in-cleanup'])(
  "names the webhook in a deletion by kubectl too, by how long the kubelet's DELETE took (%s)",
  async (name) => {
    const all = await rawObservationsIn(ownRecording(name));
    const attached = all.flatMap((one): RawObservation[] => {
      if (one.kind === 'requested' || one.kind === 'answered') return [];
      return [one.kind === 'began' ? { ...one, mode: 'attach' } : one];
    });
    const report = mustRender(traceOf(observationsOf(attached)));
    expect(report.answer.headline).not.toContain('cleanup');
    expect(deletedText(report)).toMatch(
      /^gone after 1\d\.\ds: ≈1\ds waiting for an admission webhook or the API server$/,
    );
  },
);

interface Printed {
  file: string;
  prints: string;
  printsNot?: string;
}

it.each(casesIn<Printed>(new URL('printed.yaml', import.meta.url), ['file', 'prints', 'printsNot']))(
  '%s',
  async (_, { file, prints, printsNot }) => {
    const stdout = (await runMain(['replay', ownRecording(file), '-o', 'lines'])).stdout.replace(/\s+/g, ' ');
    expect(stdout).toMatch(pattern(prints));
    if (printsNot) expect(stdout).not.toMatch(pattern(printsNot));
  },
);

it.each([
  ['whose SuccessfulDelete the limit on Events dropped', 'rollout-without-its-events'],
  ['whose strategy Recreate starts no new pod before they are gone', 'rollout-by-recreate'],
])('names the rollout of pods %s', async (_, name) => {
  const { stdout } = await runMain(['replay', ownRecording(name), '-o', 'json']);
  const { exits } = JSON.parse(stdout) as { exits: ExitReport[] };
  expect(exits.map(({ trigger }) => trigger.kind)).toEqual(['rollout', 'rollout']);
});

it('names the step that the replacement did not take before --timeout', async () => {
  const trace = traceOf(observationsOf(await rawObservationsIn(ownRecording('image-not-pulled'))));
  expect(missingReplacementText(trace)).toMatch(
    / is gone, but its replacement "failing-pull-0" was not started by --timeout$/,
  );
});
