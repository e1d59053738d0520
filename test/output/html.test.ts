import { createHash } from 'node:crypto';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { renderHtml, renderRolloutHtml } from '../../src/output/html/page.ts';
import { rolloutNumbers } from '../../src/verdict/rollout.ts';
import type { Look } from './helpers/browser.ts';
import { chromiumPath, contrasts, launch, open, overflows } from './helpers/browser.ts';
import { hostileReport, recorded, reportNamed } from './helpers/reports.ts';
import { rounds } from '../helpers/sweep.ts';

const killed = reportNamed('multi-container');
const several = [reportNamed('graceful-exit'), reportNamed('sigkill-after-grace'), hostileReport];
const rollout = (reports = several): string => renderRolloutHtml(rolloutNumbers('deployment/web', reports), reports);

describe('the HTML report', () => {
  it('has a Content-Security-Policy that allows only its own style and script', () => {
    const html = renderHtml(killed);
    const hash = (element: string) => {
      const inside = new RegExp(`<${element}>([^]*?)</${element}>`).exec(html)![1]!;
      return `sha256-${createHash('sha256').update(inside).digest('base64')}`;
    };
    expect(html).toContain(
      `content="default-src 'none'; style-src '${hash('style')}'; script-src '${hash('script')}'; base-uri 'none'; form-action 'none'"`,
    );
    expect(html).not.toMatch(/ style="| on\w+="/);
  });

  it('has no reference to other pages or files', () => {
    const html = renderHtml(killed);
    expect(html).not.toMatch(/(?:src|href)="(?!#)/);
    expect(html).not.toMatch(/https?:|@import|url\((?!#)/);
  });

  it.each(recorded)('says in one place what to change, and first what no patch can change (%s)', (_name, report) => {
    const { advice, fix } = report.answer;
    const html = renderHtml(report);
    const [, said = ''] = /<ul class="fixes">([^]*?)<\/ul>/.exec(html) ?? [];
    const sentences = [...said.matchAll(/<p>([^<]*)<\/p>/g)].map(([, text = '']) =>
      text.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code))),
    );
    const then = advice.length > 0 ? 'then ' : '';
    expect(sentences).toEqual([...advice, ...fix.map(({ reason }) => `${then}${reason}`)]);
    expect(html).not.toMatch(/<span> +fix {2}/);
  });

  it('has the strings of the cluster as text only', () => {
    for (const html of [renderHtml(hostileReport), rollout()]) {
      expect(html.match(/<script/g)).toHaveLength(1);
      expect(html.match(/<(img|b a)/g)).toBeNull();
    }
  });

  it.each(recorded)('has only finite positions, a date, and labels within the solid parts (%s)', (_name, report) => {
    const html = renderHtml(report);
    expect(html).not.toMatch(/NaN|Infinity|undefined|="-\d[\d.]*%"/);
    expect(html).toMatch(/<dd>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC<\/dd>/);
    const labels = [...html.matchAll(/<g class="item"((?:(?!<\/g>).)*)class="label on-/g)];
    for (const [, item = ''] of labels) {
      const [, solid = '?'] = /class="solid [^"]*" (x="[^"]*%" width="[^"]*")/.exec(item) ?? [];
      expect(item).toContain(`<svg ${solid}><text `);
    }
  });
});

describe('the HTML report of several pods', () => {
  it('has a lane for each pod, a table of the pods, and one fix with its YAML', () => {
    const html = rollout();
    expect(html.match(/<g role="group"/g)).toHaveLength(several.length + 1);
    expect(html).toContain('<summary>Pods (3)</summary>');
    expect(html).toMatch(/aria-label="Copy the YAML"/);
    const yaml = /<code>(spec:[^<]*)/.exec(html)?.[1] ?? '';
    expect(several.flatMap(({ answer }) => answer.fix.map(({ patch }) => patch))).toContainEqual(parse(yaml));
    expect(html).not.toMatch(/NaN|Infinity|undefined|="-\d[\d.]*%"/);
  });

  it('says if no pod was deleted, and has less than a megabyte for 200 pods', () => {
    expect(rollout([])).toContain('no pod was deleted');
    expect(rollout(Array.from({ length: 200 }, () => reportNamed('graceful-exit'))).length).toBeLessThan(1_000_000);
  });
});

describe.skipIf(chromiumPath === undefined)('the HTML report in a browser (skipped without a Chromium)', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser.close());

  const looks: Look[] = [
    { width: 1280, scheme: 'light' },
    { width: 420, scheme: 'dark' },
  ];
  it.each(looks)('logs nothing, fits %j and has enough contrast', async (look) => {
    const pages = [hostileReport, killed, reportNamed('finalizer'), reportNamed('pending')].slice(0, rounds(1, 4));
    for (const html of [...pages.map(renderHtml), rollout()]) {
      const { page, noise } = await open(browser, html, look);
      expect(noise).toEqual([]);
      expect(await page.evaluate(overflows)).toBe(false);
      expect(await page.evaluate(contrasts)).toEqual([]);
      expect(await page.title()).toContain('podexit');
      await page.close();
    }
  });
});
