/** `explain`: every word of a report has a page, and the docs are generated from the same texts. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { gateDocs } from '../../scripts/docs/gate-samples.ts';
import { explainDocs, flagDocs } from '../../scripts/docs/pages.ts';
import { drains } from '../sim/plain-story.ts';
import {
  containerOutcomes,
  findingCodes,
  markNames,
  outcomes,
  phaseNames,
  triggerKinds,
} from '../../src/model/report.ts';
import { gapTexts, gateTexts } from '../../src/verdict/explain/limits.ts';
import { containerTexts } from '../../src/verdict/explain/outcomes.ts';
import { topics } from '../../src/verdict/explain/topics.ts';
import { alone, containerOf, storyReport } from '../helpers/cases.ts';
import { runMain } from './helpers/in-process.ts';

const doc = (name: string): string => readFileSync(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8');

const words = new Set<string>([
  ...outcomes,
  ...containerOutcomes,
  ...phaseNames,
  ...markNames,
  ...triggerKinds,
  ...findingCodes,
  ...Object.keys(gateTexts),
  ...Object.keys(gapTexts),
]);

it.each([...words])('%s is explained', async (word) => {
  const { code, stdout } = await runMain(['explain', word]);
  expect(code).toBe(0);
  for (const label of ['What', 'See', 'Fix']) expect(stdout).toMatch(new RegExp(`^${label} +\\S`, 'm'));
  expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
});

it.each(findingCodes)('the page of %s has at most 15 lines', async (code) => {
  const { stdout } = await runMain(['explain', code]);
  expect(stdout.trimEnd().split('\n').length).toBeLessThanOrEqual(15);
  expect(stdout).toMatch(/^Why +\S/m);
});

it('no two words have the same text', () => {
  const texts = topics.map(({ text }) => text.is);
  expect(new Set(texts).size).toBe(texts.length);
});

it('a word for an outcome of a pod and of a container shows both pages', async () => {
  expect((await runMain(['explain', 'Killed'])).stdout).toMatch(/outcome of an exit[\s\S]*outcome of a container/);
});

it('a page explains how to read the figures', async () => {
  const { code, stdout } = await runMain(['explain', 'figures']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^figures {2}\(how to read them\)\n\n {4}Every moment is an interval\./);
});

it('it lists the same exit codes for an unknown stop signal as a trace accepts', () => {
  const { known } = containerTexts.signalled;
  const codes = Array.from({ length: 15 }, (_, index) => 129 + index);
  const outcomeOf = (code: number) => containerOf(storyReport(alone({ app: drains(1000, code) }))).outcome;
  expect(codes.filter((code) => known.includes(`${code} (`))).toEqual(
    codes.filter((code) => outcomeOf(code) === 'signalled'),
  );
  expect(known).toMatch(/132, 134 and 139 mean a crash \(failed\)\.$/);
  expect([132, 134, 139].map(outcomeOf)).toEqual(['failed', 'failed', 'failed']);
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

it('an unknown word suggests similar ones', async () => {
  const ran = await runMain(['explain', 'hook']);
  expect(ran).toMatchObject({ code: 1, stdout: '' });
  expect(ran.stderr).toMatch(
    /no outcome, phase, mark, trigger, finding, gate, gap or assumption "hook"\nNear it: .*prestop-failed/,
  );
});

describe('generated docs (npm run docs)', () => {
  it('docs/explain.md matches the texts', async () => expect(doc('explain')).toBe(await explainDocs()));
  it('docs/flags.md matches the command tree', async () => expect(doc('flags')).toBe(await flagDocs()));
  it('docs/gates.md shows what replays print for their gates', async () => {
    expect(doc('gates')).toBe(await gateDocs(doc('gates')));
    expect(doc('gates')).toMatch(/max-duration 10s: took \d\.\ds\n/);
  });
});
