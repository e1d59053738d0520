/** Compares the simulated kubelet with a real cluster: a trace shows the same facts in the same order. */
import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { convertPod, rowsOf } from '../../../scripts/convert/convert.ts';
import type { Truth } from '../../../src/demo/scenarios.ts';
import type { Row } from '../../../scripts/convert/rows.ts';
import { allNotes } from '../../../src/model/trace.ts';
import { togetherWith } from '../../../src/model/reduce/notes.ts';
import { observationsOf, rowsOf as recordedRows, traceOf, truthsOf } from '../../helpers/recordings.ts';
import { simulate } from '../simulate.ts';
import { plainStory } from '../plain-story.ts';
import { storyOf, type StoryText } from '../story-text.ts';
import { casesIn } from '../../helpers/case-file.ts';

const stories = casesIn<StoryText>(new URL('stories.yaml', import.meta.url));

/** What happens within this time may come in any order. */
const raceMs = 100;

/** Answers, what is in any order, and what only a real cluster has: Events of a start, a second Ready, other log lines. */
const leftOut =
  /^(Date|answer|Event (Started|Taint|NodeNotReady)|node \w+ Ready False|an earlier|log line of \w+$)|is scheduled$/;

/** The facts from the request on: those of logs, and the others step by step. */
function factsOf(rows: readonly Row[]) {
  const observations = observationsOf([...convertPod(rows)]);
  const firstOf = (kind: 'requested' | 'synced') => observations.find((one) => one.kind === kind)?.at;
  const start = firstOf('requested') ?? firstOf('synced') ?? Infinity;
  const [logs, steps]: [Set<string>, { at: number; facts: Set<string> }[]] = [new Set(), []];
  for (const { at, what } of allNotes(traceOf(observations).notes).filter((note) => note.at >= start))
    for (const fact of what
      .split(togetherWith)
      .map(withoutNames)
      .filter((one) => !leftOut.test(one))) {
      if (fact.startsWith('log')) logs.add(fact);
      else if (at - (steps.at(-1)?.at ?? -Infinity) <= raceMs) steps.at(-1)?.facts.add(fact);
      else steps.push({ at, facts: new Set([fact]) });
    }
  return { logs: [...logs].sort(), steps: steps.map(({ facts }) => [...facts].sort()) };
}

/** Without generated names, times and counts. */
const withoutNames = (fact: string): string =>
  fact
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}|-[a-z0-9]{8,10}(-\w{5})?\b|(?<=^slice \w+)-\w{5}/g, '')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z| \(x\d+\)|; \d+ other ready/g, '');

const stopsIn = (truths: readonly Truth[]) =>
  truths
    .map((one) => [one.container, one.timeout_s, one.signal, one.sigkill_sent !== undefined, one.exit_status])
    .sort();

describe('a simulated story', () => {
  it('exists for every recording', () => {
    const scenarios = readdirSync(new URL('../../scenarios/', import.meta.url))
      .filter((file) => file.endsWith('.ndjson'))
      .map((file) => file.replace('.ndjson', ''));
    expect(stories.map(([name]) => name).sort()).toEqual(scenarios.sort());
  });

  it.each(stories)('is like the recording of %s', (name, story) => {
    const { rows, truth } = simulate({ ...plainStory(storyOf(story)), name });
    expect(factsOf(rowsOf(rows))).toEqual(factsOf(recordedRows(name)));
    expect(stopsIn(truth)).toEqual(stopsIn(truthsOf(name)));
  });
});
