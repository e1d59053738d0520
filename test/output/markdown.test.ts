/** Markdown: at most ten lines in a pull request, everything else folded below them. */
import { describe, expect, it } from 'vitest';
import { renderMarkdown, renderRolloutMarkdown } from '../../src/output/machine/markdown.ts';
import { rolloutNumbers } from '../../src/verdict/rollout.ts';
import { hostileReport, recorded, reportNamed } from './helpers/reports.ts';

const visible = (text: string): string[] =>
  text
    .replace(/<details>[^]*?<\/details>/g, '')
    .split('\n')
    .filter((line) => line !== '');

describe('a comment about one pod', () => {
  it.each(recorded)('has at most ten lines, with the answer first (%s)', (_name, report) => {
    const lines = visible(renderMarkdown(report));
    expect(lines.length).toBeLessThanOrEqual(10);
    expect(lines[0]).toMatch(/^### [✔▲✖–?] /);
  });

  it('says why, however many gates failed', () => {
    const { verdict, ...report } = reportNamed('multi-container');
    const gates = [1, 2, 3, 4, 5].map((count) => ({ name: `gate-${count}`, passed: false, message: `${count} s` }));
    const lines = visible(renderMarkdown({ ...report, verdict: { ...verdict, gates } }));
    expect(lines.filter((line) => line.startsWith('- gate ')).length).toBeGreaterThanOrEqual(2);
    expect(lines.at(-1)).toMatch(/^- why .*ignores SIGTERM/);
  });
});

describe('a comment about several pods', () => {
  const reports = [
    ...Array.from({ length: 30 }, () => reportNamed('graceful-exit')),
    ...Array.from({ length: 4 }, () => reportNamed('sigkill-after-grace')),
    hostileReport,
  ];
  const text = renderRolloutMarkdown(rolloutNumbers('deployment/web', reports, { unseen: ['web-x'] }), reports);

  it('has at most ten lines, and a folded table of the pods', () => {
    expect(visible(text).length).toBeLessThanOrEqual(10);
    expect(text).toContain(`<summary>Pods (${reports.length})</summary>`);
    expect(text.match(/^\| .*SIGKILLed:/gm)).toHaveLength(4);
  });
});
