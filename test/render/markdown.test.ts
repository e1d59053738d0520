import { describe, expect, it } from 'vitest';
import { githubAnnotations, githubSummary } from '../../src/render/github.ts';
import { renderMarkdown } from '../../src/render/markdown.ts';
import { renderMermaid } from '../../src/render/mermaid.ts';
import { findingCodes } from '../../src/model/report.ts';
import type { ExitReport, Finding } from '../../src/model/report.ts';
import { hostile } from './helpers/hostile.ts';
import { graceful, killed, removed } from './helpers/sample-reports.ts';
import { reports } from './helpers/reports.ts';
import { unseenIn } from './helpers/unseen.ts';

const withFindings = (findings: Finding[]): ExitReport => ({ ...killed(), verdict: { ...killed().verdict, findings } });

describe('-o markdown', () => {
  it('leads with the outcome and the numbers', () => {
    expect(renderMarkdown(killed())).toMatch(
      /^## ✗ killed: pod `shop-0` in `shop`\n\nlegacy did not exit within the grace of 6 s and was killed[^\n]*\n\nexit code 2 · gone after 7\.40s · ~99% of its 6s grace used · deleted by this command · node `node1`/,
    );
  });

  it('lists findings with their severity in words and the next step', () => {
    expect(renderMarkdown(killed())).toContain(
      '- **error** `killed-at-grace`: legacy was killed when its 6s of grace had run out.\n  Next step: Handle the stop signal,',
    );
  });

  it('has rows of as many cells as their header, whatever the strings hold', () => {
    for (const report of [killed(), hostile()]) {
      const tables = renderMarkdown(report).matchAll(/(?:^\|.*\|$\n?)+/gm);
      const widths = [...tables].map(([rows]) => rows.trim().split('\n').map(cells));
      expect(widths.length).toBeGreaterThanOrEqual(4);
      for (const width of widths) expect(new Set(width).size).toBe(1);
    }
  });

  it('lets no markup, mention or link of the cluster through', () => {
    const prose = renderMarkdown(hostile()).replace(/(`+)(?!`)[^]*?(?<!`)\1(?!`)/g, 'CODE');
    expect(prose).not.toMatch(/(?<!\\)<(?!\/?(details|summary)>|!-- -->)/);
    expect(prose).not.toMatch(/@\w/);
    expect(prose).not.toMatch(/(?<!\\):\/\//);
    expect(prose).not.toMatch(/(?<!\\)\]\(/);
    expect(unseenIn(renderMarkdown(hostile()))).toEqual([]);
    expect(renderMarkdown(hostile()).length).toBeLessThan(200_000);
  });

  it('leaves empty parts out', () => {
    expect(renderMarkdown(removed())).not.toMatch(/### (Findings|Gates)/);
  });
});

describe('the Mermaid gantt', () => {
  const line =
    /^ {2}(?:section [^:;#\n]+|dateFormat x|axisFormat %s s|todayMarker off|[a-z-]+ :(?:(?:crit|done|active|milestone), )*\d+, \d+)$/;

  it.each(reports)('is made of lines that its grammar knows (%s)', (_name, sample) => {
    const [first, ...lines] = renderMermaid(sample()).trimEnd().split('\n');
    expect(first).toBe('gantt');
    expect(lines.filter((text) => !line.test(text))).toEqual([]);
  });

  it('draws phases and the deadline in milliseconds after the request', () => {
    expect(renderMermaid(graceful())).toContain('  section container app\n  drain :active, 55, 3100\n');
    expect(renderMermaid(graceful())).toContain('  section grace\n  deadline :crit, milestone, 10000, 10000\n');
  });
});

describe('in GitHub Actions', () => {
  it('each gate that failed and each finding is one annotation, the gravest first', () => {
    const findings: Finding[] = (['info', 'error', 'warning'] as const).map((severity) => ({
      code: 'drain-race',
      severity,
      message: `100% ${severity}`,
      evidence: [],
    }));
    expect(githubAnnotations(withFindings(findings))).toEqual([
      expect.stringMatching(/^::error title=podexit gate max-grace-used%3A pod shop-0::/),
      '::error title=podexit drain-race%3A pod shop-0::100%25 error',
      '::warning title=podexit drain-race%3A pod shop-0::100%25 warning',
      '::notice title=podexit drain-race%3A pod shop-0::100%25 info',
    ]);
  });

  it('there are never more than ten annotations', () => {
    const findings = findingCodes.map((code) => ({ code, severity: 'info' as const, message: 'm', evidence: [] }));
    expect(githubAnnotations(withFindings(findings))).toHaveLength(10);
  });

  it('a failed exit without findings still is annotated, a graceful one is not', () => {
    const report = withFindings([]);
    expect(githubAnnotations({ ...report, verdict: { ...report.verdict, gates: [] } })).toEqual([
      expect.stringMatching(/^::error title=podexit killed%3A pod shop-0::/),
    ]);
    expect(githubAnnotations(removed())).toEqual([]);
  });

  it('no string begins a command of its own', () => {
    const lines = githubAnnotations(hostile());
    expect(lines.join('')).not.toMatch(/[\r\n]/);
    expect(lines.every((text) => /^::(error|warning|notice) title=[^:,]*::/.test(text))).toBe(true);
    expect(unseenIn(lines.join(''))).toEqual([]);
  });

  it('the summary stays within its cap and says what it left out', () => {
    expect(githubSummary(graceful())).toContain('### Phases');
    const small = githubSummary(hostile(), 9000);
    expect(new TextEncoder().encode(small).length).toBeLessThanOrEqual(9000);
    expect(small).toMatch(/The rest was left out: a step summary holds no more\.\*\n$/);
  });
});

/** Pipes that part cells: those not escaped. */
const cells = (row: string): number => row.match(/(?<!\\)\|/g)!.length;
