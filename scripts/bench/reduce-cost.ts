/** The cost of reducing an observation, compared with parsing its JSON. In this process, for all recordings. */
import { readFileSync } from 'node:fs';
import type { Observation } from '../../src/model/observation.ts';
import { reduce } from '../../src/model/reduce.ts';
import { emptyTrace } from '../../src/model/trace.ts';
import { observationsOf, recordingFile, recordingNames, rawObservationsOf } from '../../test/helpers/recordings.ts';
import { contest, type Contest } from './contest.ts';

export async function reduceCost(rounds: number): Promise<Contest[]> {
  const lines = recordingNames.flatMap((name) => readFileSync(recordingFile(name), 'utf8').trimEnd().split('\n'));
  const runs: Observation[][] = [];
  for (const name of recordingNames) runs.push(observationsOf(await rawObservationsOf(name)));
  const observed = runs.reduce((sum, run) => sum + run.length, 0);
  return [
    await contest({
      name: 'reduce an observation',
      unit: 'µs',
      rounds,
      promised: 1,
      ours: async () => perItem(observed, () => runs.forEach((run) => run.reduce(reduce, emptyTrace))),
      reference: {
        name: 'JSON.parse a line',
        measure: async () => perItem(lines.length, () => lines.forEach((line) => JSON.parse(line) as unknown)),
      },
    }),
  ];
}

const turns = 10;

function perItem(items: number, work: () => void): number {
  const began = performance.now();
  for (let turn = 0; turn < turns; turn += 1) work();
  return ((performance.now() - began) * 1000) / (items * turns);
}
