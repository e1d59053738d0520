/**
 * Every document renderer over every report. A new recording or sample is tried by itself; a new renderer is a row here.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CORE_SCHEMA, load, YAML11_SCHEMA } from 'js-yaml';
import { githubSummary } from '../../src/render/github.ts';
import { renderHtml } from '../../src/render/html.ts';
import { renderJson } from '../../src/render/json.ts';
import { renderJsonPath, renderJsonPathAsJson } from '../../src/render/jsonpath.ts';
import { renderJunit } from '../../src/render/junit.ts';
import { renderText } from '../../src/render/lines.ts';
import { renderMarkdown } from '../../src/render/markdown.ts';
import { renderName } from '../../src/render/name.ts';
import { createNdjson } from '../../src/render/ndjson.ts';
import { forMarkdownCode, forMarkup, forTerminal } from '../../src/render/safe-text.ts';
import { renderWide } from '../../src/render/wide.ts';
import { renderYaml } from '../../src/render/yaml.ts';
import type { ExitReport } from '../../src/model/report.ts';
import { spoiltWith } from './helpers/hostile.ts';
import { reports } from './helpers/reports.ts';
import { parseXml } from './helpers/strict-xml.ts';
import { unseenIn } from './helpers/unseen.ts';

interface Told {
  outcome?: unknown;
  exitCode?: unknown;
}

interface Renderer {
  render: (report: ExitReport) => string;
  /** What of the verdict the format holds. */
  tells: readonly (keyof Told)[];
  /** The verdict as it can be read back out of the text. */
  told: (text: string) => Told;
  /** How a container's name looks in it; absent where it names none. */
  names?: (name: string) => string;
  findings: boolean;
}

const both = ['outcome', 'exitCode'] as const;
/** Up to the first control character, which JSON and YAML write in ways of their own. */
const inJson = (name: string): string => /^[ -~]*/.exec(name)![0];
const verdictOf = (document: unknown): Told => (document as ExitReport).verdict;
const fromMarkdown = (text: string): Told => ({
  outcome: /^## \S+ ([a-z-]+): pod/.exec(text)?.[1],
  exitCode: Number(/^exit code (\d+)(?:: gate [^·]+ failed)? ·/m.exec(text)?.[1]),
});

const renderers: Record<string, Renderer> = {
  json: { render: renderJson, tells: both, names: inJson, told: (text) => verdictOf(JSON.parse(text)), findings: true },
  yaml: { render: renderYaml, tells: both, names: inJson, told: (text) => verdictOf(load(text)), findings: true },
  ndjson: {
    tells: both,
    names: inJson,
    render: (report) => {
      const lines: string[] = [];
      createNdjson((line) => lines.push(line)).end(report);
      return lines.join('');
    },
    told: (text) => verdictOf((JSON.parse(text.trimEnd().split('\n').at(-1)!) as { report: unknown }).report),
    findings: true,
  },
  jsonpath: {
    tells: both,
    render: (report) =>
      renderJsonPath(
        report,
        '{.verdict.outcome} {.verdict.exitCode} {.containers[*].name} {.verdict.findings[*].code}',
      ),
    told: (text) => ({ outcome: text.split(' ')[0], exitCode: Number(text.split(' ')[1]) }),
    names: (name) => forTerminal(name),
    findings: true,
  },
  'jsonpath-as-json': {
    tells: both,
    names: inJson,
    render: (report) => renderJsonPathAsJson(report, '{.verdict}{.containers}'),
    told: (text) => (JSON.parse(text) as Told[])[0]!,
    findings: true,
  },
  name: { render: renderName, tells: [], told: () => ({}), findings: false },
  wide: {
    render: renderWide,
    tells: ['outcome'],
    told: (text) => ({ outcome: text.split('\n')[1]!.split(/ {3,}/)[2] }),
    names: (name) => forTerminal(name),
    findings: true,
  },
  text: {
    render: renderText,
    tells: both,
    told: (text) => ({
      outcome: /^ {2}[✔▲✖?] ([a-z-]+): /m.exec(text)?.[1],
      exitCode: Number(/ Exit code (\d+)(?:: gate [^\n]* failed)?\.$/m.exec(text)?.[1] ?? 0),
    }),
    names: (name) => forTerminal(name),
    findings: true,
  },
  html: {
    render: renderHtml,
    tells: both,
    told: (text) => ({
      outcome: /<span class="outcome \w+">\S+ ([a-z-]+)</.exec(text)?.[1],
      exitCode: Number(/<dt>exit code<\/dt><dd>(\d+)[:<]/.exec(text)?.[1]),
    }),
    names: forMarkup,
    findings: true,
  },
  junit: {
    render: renderJunit,
    tells: both,
    told: (text) => {
      const properties = parseXml(text).children[0]!.children[0]!.children.map(({ attributes }) => attributes);
      const value = (name: string) => properties.find((property) => property['name'] === name)?.['value'];
      return { outcome: value('outcome'), exitCode: Number(value('exit-code')) };
    },
    names: forMarkup,
    findings: true,
  },
  markdown: { render: renderMarkdown, tells: both, told: fromMarkdown, names: forMarkdownCode, findings: true },
  'github summary': { render: githubSummary, tells: both, told: fromMarkdown, names: forMarkdownCode, findings: true },
};

const cases = Object.entries(renderers).flatMap(([format, renderer]) =>
  reports.map(([name, sample]) => ({ format, name, report: sample(), ...renderer })),
);

describe('every renderer', () => {
  it.each(cases)('leaves the report untouched and says the same twice ($format, $name)', ({ render, report }) => {
    const before = JSON.stringify(report);
    const text = render(freeze(report));
    expect(JSON.stringify(report)).toBe(before);
    expect(render(report)).toBe(text);
  });

  it.each(cases)('agrees on the outcome and the exit code ($format, $name)', ({ render, told, tells, report }) => {
    const verdict: Told = told(render(report));
    for (const key of tells) expect(verdict[key]).toBe(report.verdict[key]);
  });

  it.each(cases)('names every container and every finding ($format, $name)', ({ render, names, findings, report }) => {
    const text = render(report);
    if (findings) for (const { code } of report.verdict.findings) expect(text).toContain(code);
    if (names) for (const { name } of report.containers) expect(text).toContain(names(name).slice(0, 40));
  });

  it.each(cases)('lets nothing unseen through ($format, $name)', ({ render, report }) => {
    expect(unseenIn(render(report))).toEqual([]);
  });

  it.each(cases)('is done in no time ($format, $name)', ({ render, report }) => {
    const started = performance.now();
    render(report);
    expect(performance.now() - started).toBeLessThan(2000);
  });

  it('stays readable and lets nothing unseen through, whatever the strings of a report are', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 60 }),
      fc.uint16Array({ maxLength: 30 }).map((units) => String.fromCharCode(...units)),
      fc.string({
        unit: fc.constantFrom('`', '|', '<', '>', '&', '"', "'", ']', '\\', '\n', '\x1b', '-', ':', ' '),
        maxLength: 30,
      }),
    );
    fc.assert(
      fc.property(text, (raw) => {
        const report = spoiltWith(raw);
        for (const { render, tells, told } of Object.values(renderers)) {
          const shown = render(report);
          expect(unseenIn(shown)).toEqual([]);
          const verdict: Told = told(shown);
          for (const key of tells) expect(verdict[key]).toBe(report.verdict[key]);
        }
        expect(JSON.parse(renderJson(report))).toEqual(report);
        for (const schema of [CORE_SCHEMA, YAML11_SCHEMA]) expect(load(renderYaml(report), { schema })).toEqual(report);
      }),
      { seed: 5, numRuns: 150 },
    );
  });
});

function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  Object.values(value).forEach(freeze);
  return Object.freeze(value);
}
