/** Rules for every recording in every format. The texts are in test/goldens. */
import { describe, expect, it } from 'vitest';
import { cardLines } from '../../src/output/text/card.ts';
import { plainPen as pen } from '../../src/output/palette.ts';
import { heldText } from '../../src/output/pod-facts.ts';
import { textWidth } from '../../src/output/prose.ts';
import { manyPodsOutput, outputsOf, podsOf, rolloutOutputs, type PodOutput } from './helpers/every-output.ts';
import { allNames } from '../helpers/recordings.ts';
import { everyNth } from '../helpers/sweep.ts';
import { countedLines, endOf } from './helpers/card-end.ts';
import { hostileReport, reportNamed } from './helpers/reports.ts';
import { unseenIn } from './helpers/unseen.ts';

/** Graceful exits in which a hook, a node or a finalizer is to be looked at. */
const toMend = new Set(['finalizer', 'kubelet-restart', 'node-down', 'oom-child', 'prestop-fails', 'poststart-hang']);

const isCommand = (line: string): boolean => /^ +kubectl /.test(line);
/** The text without markup, styles and scripts. */
const readable = (text: string): string =>
  text
    .replace(/<(style|script)[\s\S]*?<\/\1>/g, ' ')
    .replace(/<[^>]*>/g, ' ')
    .replace(/%(0A|3A)/g, ' ');

describe.each(everyNth(2, allNames))('%s', async (name) => {
  const pods = await podsOf(name);
  const few = pods.slice(0, 1).map((pod) => ({ pod, outputs: outputsOf(pod) }));
  const many = manyPodsOutput(pods);

  it('has no share above 100%', () => {
    for (const text of [...few.flatMap(({ outputs }) => Object.values(outputs)), many ?? '']) {
      const shares = [...readable(text).matchAll(/(\d+(?:\.\d+)?)\s?%/g)].map(([, share]) => Number(share));
      expect(shares.filter((share) => share > 100)).toEqual([]);
    }
  });

  it('has one icon, a tick only if nothing is left to do, and ends with its summary', () => {
    for (const { pod, outputs } of few) {
      const isGood = pod.report.verdict.exitCode === 0;
      const icon = isGood ? (toMend.has(name) ? '▲' : '✔') : '✖';
      for (const format of ['card', 'lines', 'text', 'verbose']) {
        const last = endOf(outputs[format]?.split('\n') ?? []);
        expect(last.startsWith(`${icon} ${pod.report.answer.summary}`)).toBe(true);
        expect(last.includes('; gone after ')).toBe(pod.report.timeline.total !== undefined);
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
      const text = heldText(report.ledger);
      const parts = [...text.matchAll(/([\d.]+)s/g)].map(([, seconds]) => Number(seconds) * 1000);
      if (total) expect(Math.max(0, ...parts), text).toBeLessThanOrEqual(total.shown);
    }
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

  it.runIf(many !== undefined)('ends a run over all its pods with a card of at most 20 rows and 80 columns', () => {
    const card = many?.slice(many.indexOf('\n\n') + 2).split('\n') ?? [];
    expect(card.length).toBeLessThanOrEqual(20);
    expect(card.slice(0, -1).filter((line) => textWidth(line) > 80 && !isCommand(line))).toEqual([]);
    expect(card[0]?.slice(0, 1)).toBe(endOf(card).slice(0, 1));
  });
});

it.each([
  ...Object.entries(outputsOf({ report: hostileReport, lines: '' })),
  ...Object.entries(rolloutOutputs([reportNamed('graceful-exit'), hostileReport])),
])('prints no character of the cluster that acts on a reader (%s)', (_format, text) => {
  expect(unseenIn(text)).toEqual([]);
});

/** Parts of sentences that two rows of a card share, except its last line, which repeats the first on purpose. */
function repeated({ report }: PodOutput): string[] {
  const { headline, why = '', traffic, advice, fix, also } = report.answer;
  const sentences = [...fix.map(({ reason }) => reason), ...also.map(({ message }) => message)];
  const rows = [headline, why, traffic.reason, ...advice, ...sentences];
  const parts = rows.flatMap((row) => [...new Set(row.split(/[;,·(]|: /).map((part) => part.trim()))]);
  return parts.filter((part, index) => part.length > 15 && parts.indexOf(part) !== index);
}
