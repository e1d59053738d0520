/** Rules for every recording in every format. The texts are in test/goldens. */
import { describe, expect, it } from 'vitest';
import { cardLines } from '../../src/output/text/card.ts';
import { deletedText, heldText } from '../../src/output/pod-facts.ts';
import { textWidth } from '../../src/output/prose.ts';
import type { PodOutput } from './helpers/every-output.ts';
import { allNames } from '../helpers/recordings.ts';
import { manyPodsOutput, outputsOf, pen, podsOf } from './helpers/every-output.ts';
import { everyNth } from '../helpers/sweep.ts';
import { formerWords } from './helpers/former-words.ts';
import { countedLines, endOf } from './helpers/card-end.ts';

/** Graceful exits in which a hook, a node or a finalizer is to be looked at. */
const toMend = new Set(['finalizer', 'kubelet-restart', 'node-down', 'oom-child', 'prestop-fails', 'poststart-hang']);

const isCommand = (line: string): boolean => /^ +kubectl /.test(line);
/** The text without markup, styles and scripts. */
const readable = (text: string): string =>
  text
    .replace(/<(style|script)[\s\S]*?<\/\1>/g, ' ')
    .replace(/<[^>]*>/g, ' ')
    .replace(/%(0A|3A)/g, ' ');
/** Only the sentences of a JSON document: identifiers may be coined terms. */
const sentences = (text: string): string =>
  [...text.matchAll(/"(?:message|advice|summary|reason|what|note)": ?"((?:[^"\\]|\\.)*)"/g)]
    .map(([, sentence]) => sentence)
    .join('\n');
const wordsIn = (format: string, text: string): string =>
  format === 'json' || format === 'ndjson' ? sentences(text) : readable(text);

describe.each(everyNth(2, allNames))('%s', async (name) => {
  const pods = await podsOf(name);
  const few = pods.slice(0, 1).map((pod) => ({ pod, outputs: outputsOf(pod) }));
  const many = manyPodsOutput(pods);
  const texts = [
    ...few.flatMap(({ outputs }) => Object.entries(outputs)),
    ...(many === undefined ? [] : [['many', many]]),
  ];

  it.each(texts)('has no share above 100% and no coined term in %s', (format = '', text = '') => {
    const said = wordsIn(format, text);
    const shares = [...said.matchAll(/(\d+(?:\.\d+)?)\s?%/g)].map(([, share]) => Number(share));
    expect(shares.filter((share) => share > 100)).toEqual([]);
    expect(formerWords.flatMap((word) => said.match(word)?.[0] ?? [])).toEqual([]);
  });

  it('has one icon, a tick only if nothing is left to do, and ends with its summary', () => {
    for (const { pod, outputs } of few) {
      const isGood = pod.report.verdict.exitCode === 0;
      const icon = isGood ? (toMend.has(name) ? '▲' : '✔') : '✖';
      for (const format of ['card', 'lines', 'text', 'verbose']) {
        const last = endOf(outputs[format]?.split('\n') ?? []);
        expect(last.startsWith(`${icon} ${pod.report.answer.summary}`)).toBe(true);
      }
      expect(/^### (.)/.exec(outputs['markdown'] ?? '')?.[1]).toBe(icon);
      expect(/<h1><span[^>]*>(.)/.exec(outputs['html'] ?? '')?.[1]).toBe(icon);
      expect(outputs['junit']?.includes('<failure')).toBe(!isGood);
    }
  });

  it('has a card of at most 20 lines beside the fix, or 8 if all went well, wrapped at 80 columns', () => {
    for (const { report } of pods) {
      const lines = cardLines(report, { pen, columns: 80 });
      const isGood = lines[0]?.startsWith('✔') === true;
      expect(countedLines(lines, isGood)).toBeLessThanOrEqual(isGood ? 8 : 20);
      expect(lines.filter((line) => textWidth(line) > 80 && !isCommand(line))).toEqual([]);
    }
  });

  it('repeats no part of a sentence in its card', () => {
    for (const pod of pods) expect(repeated(pod)).toEqual([]);
  });

  it('names no part of the time until the pod was gone that is longer than that time', () => {
    for (const { report } of pods) {
      const { total } = report.timeline;
      if (!total) continue;
      const text = heldText(report.ledger);
      const parts = [...text.matchAll(/([\d.]+)s/g)].map(([, seconds]) => Number(seconds) * 1000);
      expect(Math.max(0, ...parts), text).toBeLessThanOrEqual(total.shown);
    }
  });

  it('says only once how long a finalizer held the pod', () => {
    for (const { report } of pods)
      if (report.answer.cause?.code === 'finalizer-held') expect(deletedText(report)).not.toContain('by finalizers');
  });

  it('prints evidence, phases, assumptions and gaps only with -v', () => {
    for (const { outputs } of few) {
      expect(outputs['text']).not.toMatch(/evidence:|assumption:|gap:|API accepted/);
      if (outputs['lines']?.includes('kubelet started termination'))
        expect(outputs['verbose']).toMatch(/assumption: .* at most /);
      if (/^ {2}[a-z-]+ +warning {2}/m.test(outputs['verbose'] ?? ''))
        expect(outputs['verbose']).toContain('evidence: ');
    }
  });

  it('prints lines with offsets from the deletion, causes before effects, and updates at two times at most', () => {
    for (const { pod, outputs } of few) {
      const lines = changesIn(outputs['lines'] ?? '');
      expect(lines[0]).toMatch(/ \+0\.00 {2,}(?:request|api) /);
      // What is known of a replacement is one piece of news.
      const updates = lines.filter((line) => / update {2,}/.test(line)).map((line) => line.trim().split(' ')[0]);
      expect(new Set(updates).size).toBeLessThanOrEqual(2);
      const container = /^ {2}(\S+) /m.exec(outputs['lines'] ?? '')?.[1] ?? '';
      const isForced = pod.report.verdict.outcome === 'forced';
      const story = lines.filter((line) => !/ update {2,}/.test(line));
      const places = storyOf(container, isForced).map((step) => story.findIndex((line) => step.test(line)));
      const seen = places.filter((place) => place >= 0);
      expect(seen).toEqual([...seen].sort((a, b) => a - b));
    }
  });

  it.runIf(many !== undefined)('ends a run over all its pods with a card of at most 20 rows and 80 columns', () => {
    const card = many?.slice(many.indexOf('\n\n') + 2).split('\n') ?? [];
    expect(card.length).toBeLessThanOrEqual(20);
    expect(card.slice(0, -1).filter((line) => textWidth(line) > 80 && !isCommand(line))).toEqual([]);
    expect(card[0]?.slice(0, 1)).toBe(endOf(card).slice(0, 1));
  });
});

/** The lines of changes, between the heading and the card. */
const changesIn = (lines: string): string[] => lines.split('\n').filter((line) => /^ {2}\d\d:\d\d:\d\d/.test(line));

/** The steps of a container's exit in their only possible order. A forced deletion removes the pod earlier. */
const storyOf = (container: string, isForced: boolean): RegExp[] => [
  / (?:delete|eviction) requested/,
  / deletionTimestamp /,
  new RegExp(` ${container} +kubelet started termination`),
  new RegExp(` ${container} +preStop \\S+ (?:completed|failed|finished|still running)`),
  new RegExp(` ${container} +SIGTERM sent`),
  new RegExp(` ${container} +SIGKILL`),
  new RegExp(` ${container} +exited `),
  / all containers terminated/,
  / pod sandbox removed/,
  ...(isForced ? [] : [/ pod deleted/]),
];

/** Parts of sentences that two rows of a card share, except its last line, which repeats the first on purpose. */
function repeated({ report }: PodOutput): string[] {
  const { headline, why = '', traffic, advice, fix, also } = report.answer;
  const rows = [
    headline,
    why,
    traffic.reason,
    ...advice,
    ...fix.map(({ reason }) => reason),
    ...also.map(({ message }) => message),
  ];
  const parts = rows.flatMap((row) => [...new Set(row.split(/[;,·(]|: /).map((part) => part.trim()))]);
  return parts.filter((part, index) => part.length > 15 && parts.indexOf(part) !== index);
}
