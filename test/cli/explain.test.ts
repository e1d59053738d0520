/** `explain`: every word of a report has a page, which is a part of docs/explain.md. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { gateDocs } from '../../scripts/docs/gate-samples.ts';
import { flagDocs } from '../../scripts/docs/pages.ts';
import { checkOnlyCodes } from '../../src/advice/problem.ts';
import { assumptions } from '../../src/model/assumptions.ts';
import {
  containerOutcomes,
  findingCodes,
  markNames,
  outcomes,
  phaseNames,
  triggerKinds,
  type GapReport,
} from '../../src/model/report.ts';
import { topics, type TopicKind } from '../../src/verdict/explain.ts';
import type { GateSpec } from '../../src/verdict/policy.ts';
import { runMain } from './helpers/in-process.ts';

const doc = (name: string): string => readFileSync(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8');

/** The last two are those of a check. */
const gates: Record<GateSpec['kind'] | 'disruption-budget' | 'timeout', true> = {
  'max-duration': true,
  'max-grace-used': true,
  'min-drain-lead': true,
  'max-lost': true,
  'fail-on': true,
  'disruption-budget': true,
  timeout: true,
};

const gaps: Record<GapReport['cause'], true> = {
  expired: true,
  disconnected: true,
  'not-synced': true,
  behind: true,
  refused: true,
  late: true,
  'clock-stepped': true,
  'clock-doubtful': true,
};

const names: Record<TopicKind, readonly string[]> = {
  outcome: outcomes,
  container: containerOutcomes,
  phase: phaseNames,
  mark: markNames,
  trigger: triggerKinds,
  finding: [...findingCodes, ...checkOnlyCodes],
  gate: Object.keys(gates),
  gap: Object.keys(gaps),
  assumption: Object.keys(assumptions),
};

const words = new Set(Object.values(names).flat());

it.each(Object.entries(names))('docs/explain.md explains each %s of the program, and no other', (kind, known) => {
  const explained = topics.filter((topic) => topic.kind === kind).map(({ name }) => name);
  expect(explained.sort()).toEqual([...new Set(known)].sort());
});

it('prints every line of docs/explain.md', () => {
  const lines = doc('explain')
    .split('## Outcomes\n')[1]
    ?.replace(/^(?:#{2,3} .*|- \*\*.+?\.\*\* |```(?:yaml)?)/gm, '')
    .split('\n')
    .filter((line) => line !== '');
  const printed = topics.flatMap(({ text }) => Object.values(text).flatMap((part: string) => part?.split('\n') ?? []));
  expect(lines).toEqual(printed);
});

it.each(Object.entries(assumptions))('the page of %s has the number that the program assumes', (name, seconds) => {
  const page = topics.find((topic) => topic.kind === 'assumption' && topic.name === name);
  const unit = name === 'clock-drift' ? 's per second' : 's';
  expect(page?.text.is).toMatch(`at most ${seconds} ${unit}`);
});

it.each([...words])('%s is explained, and a finding in at most 15 lines', async (word) => {
  const { code, stdout } = await runMain(['explain', word]);
  const lines = stdout.trimEnd().split('\n');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^What +\S/m);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
  if (!findingCodes.some((one) => one === word)) return;
  expect(stdout).toMatch(/^Fix +\S/m);
  expect(lines.length).toBeLessThanOrEqual(15);
});

it('no two words have the same text', () => {
  const texts = topics.map(({ text }) => text.is);
  expect(new Set(texts).size).toBe(texts.length);
});

it('without a word it lists all topics', async () => {
  const { stdout } = await runMain(['explain']);
  for (const name of words) expect(stdout).toContain(name);
});

it.each([
  ['phases', phaseNames],
  ['Finding', topics.filter(({ kind }) => kind === 'finding').map(({ name }) => name)],
  ['outcomes', outcomes],
])('%s lists its topics', async (kind, names) => {
  const { code, stdout } = await runMain(['explain', kind]);
  expect(code).toBe(0);
  for (const name of names) expect(stdout).toMatch(new RegExp(`^${name}\\n {4}\\S`, 'm'));
  expect(stdout.match(/^\S/gm)).toHaveLength(names.length + 1);
});

describe('generated docs (npm run docs)', () => {
  it('docs/flags.md matches the command tree', async () => expect(doc('flags')).toBe(await flagDocs()));
  it('docs/gates.md shows what replays print for their gates', async () => {
    expect(doc('gates')).toBe(await gateDocs(doc('gates')));
    expect(doc('gates')).toMatch(/max-duration 10s: took \d\.\ds\n/);
  });
});
