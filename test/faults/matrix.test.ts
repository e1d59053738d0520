/**
 * Every fault × every recording × three positions in time: the report is the same as without the fault, plus reported
 * gaps, and the server accepts one deletion. In the suite each fault runs once, at a position and with a recording drawn by
 * a seed. `PODEXIT_FAULTS=all` runs all, `PODEXIT_FAULTS=WORDS` those whose name contains the words, and `PODEXIT_SEED`
 * draws others. Every second run uses TLS and HTTP/2.
 */
import { expect, it } from 'vitest';
import type { Scenario } from '../../src/demo/scenarios.ts';
import { recordingNames, truthsOf } from '../helpers/recordings.ts';
import { seeded } from '../helpers/seeded.ts';
import { isSweep, rounds } from '../helpers/sweep.ts';
import { hasOpenssl, selfSigned } from '../helpers/self-signed.ts';
import { loadRecording } from '../demo/helpers/load.ts';
import type { Fair } from './helpers/compare.ts';
import { differenceBetween, fairOf } from './helpers/compare.ts';
import type { Moment, Position } from './helpers/fault-cases.ts';
import { faultCases, positions } from './helpers/fault-cases.ts';
import { sideBySide } from './helpers/side-by-side.ts';
import type { Traced } from './helpers/traced.ts';
import { modeFor, traced } from './helpers/traced.ts';

const asked = process.env['PODEXIT_FAULTS'] ?? '';
const seed = Number(process.env['PODEXIT_SEED'] ?? 4);
const overHttp2 = hasOpenssl ? { tls: { ...selfSigned(), http2: true } } : {};
const parallelRuns = 24;
/** For each fault and position. */
const recordingsPerCell = rounds(1, 8);
const positionsPerFault = asked === '' ? rounds(1, positions.length) : positions.length;
/** The number of recordings (of 24) that are used at all: each first runs without a fault. */
const recordingsMet = asked === '' ? rounds(3, 24) : 24;
const phases = isSweep ? [0, 120, 240, 360, 480, 600, 720, 840] : [0, 240, 480, 720];

interface Cell {
  nth: number;
  fault: string;
  position: Position;
  recording: string;
}

/** The one thing that a fault makes true. */
const isTrueOf = ({ fault }: Cell, code: string): boolean =>
  code === 'api-server-silent' && fault.startsWith('the server down');

it('the report is the same under every fault, and the pod is deleted once', async () => {
  const cells = drawn();
  const met = [...new Set(cells.map(({ recording }) => recording))];
  const scenarios = new Map(met.map((name) => [name, loadRecording(name)]));
  const fair = new Map<string, Fair>();
  await sideBySide(met, parallelRuns, async (name) => {
    const runs = await sideBySide(phases, 4, (phaseMs) => traced(mustHave(scenarios, name), { phaseMs }));
    fair.set(name, fairOf(runs));
  });
  const wrong: string[] = [];
  let lost = 0;
  let invented = 0;
  await sideBySide(cells, parallelRuns, async (cell) => {
    const scenario = mustHave(scenarios, cell.recording);
    const faults = faultCases[cell.fault]?.(momentOf(cell.position, scenario)) ?? [];
    const run = await traced(scenario, { server: { ...(cell.nth % 2 === 0 ? overHttp2 : {}), faults } });
    const where = `${cell.fault}, ${cell.position}, ${cell.recording}`;
    // The server does not count a deletion that happens later. So this counts the requests.
    const accepted = modeFor(scenario, podOf(run)) === 'attach' ? 0 : 1;
    const deletions = isDoneLater(cell) ? run.requests.filter(isDeletion).length : run.deletesAccepted;
    const difference = differenceBetween(mustHave(fair, cell.recording), run);
    if (difference.lost.length > 0) lost += 1;
    if (difference.invented.length > 0) invented += 1;
    const all = [
      ...difference.lost.map((what) => `lost ${what}`),
      ...difference.invented.filter((what) => !isTrueOf(cell, what)).map((what) => `invented ${what}`),
      ...(deletions === accepted ? [] : [`${deletions} deletions were accepted`]),
    ];
    if (all.length > 0) wrong.push(`${where}: ${all.join('; ')}`);
  });
  process.stdout.write(`fault matrix: ${cells.length} runs, ${lost} lost, ${invented} invented\n`);
  expect(wrong).toEqual([]);
  expect(cells.length).toBeGreaterThan(0);
}, 900_000);

function drawn(): Cell[] {
  const random = seeded(seed);
  const shuffled = <T extends string>(names: readonly T[]): T[] =>
    names
      .map((name) => ({ name, by: random() }))
      .sort((a, b) => a.by - b.by)
      .map(({ name }) => name);
  const met = shuffled(recordingNames).slice(0, recordingsMet);
  return Object.keys(faultCases).flatMap((fault) =>
    shuffled(positions)
      .slice(0, positionsPerFault)
      .flatMap((position) => {
        const names = shuffled(met).slice(0, asked === '' ? recordingsPerCell : undefined);
        return names
          .map((recording, nth) => ({ nth, fault, position, recording }))
          .filter((cell) => asked === '' || asked === 'all' || Object.values(cell).join(', ').includes(asked));
      }),
  );
}

function momentOf(position: Position, scenario: Scenario): Moment {
  const tries = positions.indexOf(position) + 1;
  const lastChangeMs = lastChangeOf(scenario);
  if (position === 'before sync') return { position, from: {}, few: { times: 5 }, tries, lastChangeMs };
  const afterMs = position === 'after the DELETE' ? 5 : halfWay(scenario);
  return { position, from: { afterMs }, few: {}, tries, lastChangeMs };
}

function lastChangeOf({ rows }: Scenario): number {
  const changes = rows.flatMap((row) => (row.type === 'watch' && row.resource === 'pods' ? [Date.parse(row.at)] : []));
  return Math.max(1, Math.max(...changes) - beganAt(rows) - 3);
}

/** The recorder's own request, or the first change if a controller deletes the pod. */
function beganAt(rows: Scenario['rows']): number {
  const first = rows.find((row) => row.type === 'request') ?? rows.find((row) => row.type === 'watch');
  return first && 'at' in first ? Date.parse(first.at) : 0;
}

/** Half of the time from the DELETE to the first exit, ms. A pod without an exit has nothing to stop. */
function halfWay({ name, rows }: Scenario): number {
  const request = rows.find((row) => row.type === 'request');
  const exits = truthsOf(name).flatMap(({ exited }) => (exited === undefined ? [] : [Date.parse(exited)]));
  const began = request?.type === 'request' ? Date.parse(request.at) : Math.min(...exits) - 1000;
  return exits.length === 0 ? 50 : Math.max(10, Math.round((Math.min(...exits) - began) / 2));
}

const isDoneLater = ({ fault }: Cell): boolean => fault === 'a DELETE that is answered before it is executed';

const isDeletion = ({ method, resource, subresource }: Traced['requests'][number]): boolean =>
  resource === 'pods' && (method === 'DELETE' || subresource === 'eviction');

const podOf = ({ report }: Traced): string => report?.pod.name ?? '';

function mustHave<T>(from: ReadonlyMap<string, T>, name: string): T {
  const found = from.get(name);
  if (found === undefined) throw new Error(`nothing is known of ${name}`);
  return found;
}
