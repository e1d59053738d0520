import { createHash } from 'node:crypto';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderHtml } from '../../src/render/html.ts';
import type { Look, Opened } from './helpers/browser.ts';
import { chromiumPath, launch, open } from './helpers/browser.ts';
import { reportOfRecording } from '../helpers/recordings.ts';
import { hostile } from './helpers/hostile.ts';
import { contrasts, overflows, rootStyle } from './helpers/page-checks.ts';
import { graceful, killed } from './helpers/sample-reports.ts';
import { samples } from './helpers/samples.ts';
import { unseenIn } from './helpers/unseen.ts';

interface Contrasts {
  low: string[];
  texts: number;
  labels: number;
}

describe('the HTML report', () => {
  it('allows, by its policy, exactly the style and the script that it holds', () => {
    const html = renderHtml(graceful());
    const hash = (element: string) => {
      const inside = new RegExp(`<${element}>([^]*?)</${element}>`).exec(html)![1]!;
      return `sha256-${createHash('sha256').update(inside).digest('base64')}`;
    };
    expect(html).toContain(
      `content="default-src 'none'; style-src '${hash('style')}'; script-src '${hash('script')}'; base-uri 'none'; form-action 'none'"`,
    );
    expect(html).not.toMatch(/ style="| on\w+="/);
  });

  it('names nothing outside of itself', () => {
    const html = renderHtml(graceful());
    expect(html).not.toMatch(/(?:src|href)="(?!#)/);
    expect(html).not.toMatch(/https?:|@import|url\((?!#)/);
  });

  it('lets no string of the cluster become markup, data or an unseen character', () => {
    const html = renderHtml(hostile());
    expect(html.match(/<script/g)).toHaveLength(2);
    expect(html.match(/<(img|b a)/g)).toBeNull();
    expect(unseenIn(html)).toEqual([]);
    expect(html.length).toBeLessThan(300_000);
  });

  it('has no timeline of a check, in which nothing happens', () => {
    const html = renderHtml({ ...graceful(), mode: 'check', marks: [], phases: [] });
    expect(html).not.toMatch(/t-timeline|<script|t-containers/);
    expect(html).toContain('nothing was deleted');
  });

  it.each(samples)('has only finite positions in its picture (%s)', (_name, sample) => {
    expect(renderHtml(sample())).not.toMatch(/NaN|Infinity|undefined|="-\d[\d.]*%"/);
  });
});

describe.skipIf(chromiumPath === undefined)('the HTML report in a browser (skipped without a Chromium)', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser.close());

  const narrow = { width: 360, scheme: 'light' } as const;
  const broad = { width: 1280, scheme: 'light' } as const;
  const dark = { width: 1280, scheme: 'dark' } as const;
  const cases = samples.flatMap(([name, sample]) => [narrow, dark].map((look) => ({ name, sample, ...look })));

  it.each(cases)('fits, is readable and quiet: $name, $width px, $scheme', async ({ sample, ...look }) => {
    await inPage(renderHtml(sample()), look, async ({ page, noise }) => {
      expect(await page.evaluate(overflows)).toBe(false);
      const { low, texts } = await page.evaluate<Contrasts>(contrasts);
      expect(low).toEqual([]);
      expect(texts).toBeGreaterThan(30);
      expect(noise).toEqual([]);
    });
  });

  it('writes on its bars in colours that can be read, and notices where they cannot', async () => {
    await inPage(renderHtml(killed()), broad, async ({ page }) => {
      expect((await page.evaluate<Contrasts>(contrasts)).labels).toBeGreaterThanOrEqual(2);
      await page.evaluate(`document.documentElement.style.setProperty('--muted', '#c8c8c8')`);
      expect((await page.evaluate<Contrasts>(contrasts)).low.length).toBeGreaterThan(10);
    });
  });

  it.each(['node-down', 'multi-container', 'rolling-update', 'native-sidecar'])(
    'has room for the words at its ruler on a telephone (%s)',
    async (name) => {
      await inPage(renderHtml(await reportOfRecording(name)), narrow, async ({ page }) => {
        const frame = (await page.locator('.viewport').boundingBox())!;
        for (const label of await page.locator('.grace-label, .deadline-label').all()) {
          const box = (await label.boundingBox())!;
          expect(box.x).toBeGreaterThanOrEqual(frame.x);
          expect(box.x + box.width).toBeLessThanOrEqual(frame.x + frame.width);
        }
      });
    },
  );

  it('runs no string of the cluster, not even when pointed at', async () => {
    await inPage(renderHtml(hostile()), broad, async ({ page, noise }) => {
      for (const item of await page.locator('.item').all()) await item.focus();
      expect(await page.title()).toMatch(/^graceful: x1 /);
      expect(await page.locator('img, iframe, b a').count()).toBe(0);
      expect(await page.locator('#panel').textContent()).toContain('\\x1b[2J');
      expect(noise).toEqual([]);
    });
  });

  it.each([360, 1280])('tells the whole story to a screen reader at %d px', async (width) => {
    await inPage(renderHtml(killed()), { width, scheme: 'light' }, async ({ page }) => {
      const tree = await page.locator('body').ariaSnapshot();
      for (const part of [
        '- heading "✗ killed shop-0" [level=1]',
        '- heading "Findings" [level=2]',
        '- region "Timeline"',
        '- group "container legacy"',
        '- group "seconds after the request, against the grace period"',
        '- button "Zoom in"',
        '- heading "Marks" [level=2]',
        '- columnheader "lies within"',
        '- status "Evidence"',
      ]) {
        expect(tree).toContain(part);
      }
      expect(tree).toMatch(/- img "kill · legacy ~\+6\.5s\. .*within 6\.400 … 6\.600s \(inferred/);
      expect(tree).toMatch(/- row "~\+6\.5s kill legacy ◇ inferred 6\.400 … 6\.600s 6"/);
    });
  });

  it('is walked by the keyboard: one stop for the picture, arrows within it, evidence in the panel', async () => {
    await inPage(renderHtml(killed()), broad, async ({ page }) => {
      expect(await page.locator('.item[tabindex="0"]').count()).toBe(1);
      await page.locator('.item[tabindex="0"]').focus();
      const first = await page.locator('#panel h3').textContent();
      await page.keyboard.press('ArrowRight');
      expect(await page.locator('#panel h3').textContent()).not.toBe(first);
      await page.keyboard.press('End');
      expect(await page.locator('#panel h3').textContent()).toBe('exited · legacy ~+6.5s');
      expect(await page.locator('#panel .seen').allTextContents()).toEqual(['6: log of legacy ended']);
      expect(await page.locator('.item[tabindex="0"]').count()).toBe(1);
    });
  });

  it('shows evidence for what the mouse points at', async () => {
    await inPage(renderHtml(killed()), broad, async ({ page }) => {
      await page
        .locator('.item', { has: page.locator('.solid.drain') })
        .first()
        .hover();
      expect(await page.locator('#panel h3').textContent()).toMatch(/^drain · web: ~3\.1s, ~52% of the grace$/);
    });
  });

  it('is zoomed by buttons, keys and the wheel, and scrolls inside its own frame', async () => {
    await inPage(renderHtml(graceful()), narrow, async ({ page }) => {
      const lanes = async () => (await page.locator('.lanes').boundingBox())!.width;
      const whole = await lanes();
      await page.getByRole('button', { name: 'Zoom in' }).click();
      expect(await lanes()).toBeCloseTo(2 * whole, -1);
      await page.locator('.viewport').focus();
      await page.keyboard.press('+');
      expect(await lanes()).toBeCloseTo(4 * whole, -1);
      await page.locator('.viewport').hover();
      await page.keyboard.down('Control');
      await page.mouse.wheel(0, -200);
      await page.keyboard.up('Control');
      await expect.poll(lanes).toBeGreaterThan(4.5 * whole);
      expect(await page.evaluate(overflows)).toBe(false);
      await page.keyboard.press('0');
      expect(await lanes()).toBeCloseTo(whole);
      expect(await page.getByRole('button', { name: 'Zoom out' }).isDisabled()).toBe(true);
    });
  });

  it('prints in light colours without its controls, and moves nothing where motion is unwanted', async () => {
    await inPage(renderHtml(killed()), dark, async ({ page }) => {
      await page.emulateMedia({ media: 'print' });
      expect(await page.locator('.zoom').isVisible()).toBe(false);
      expect(await page.locator('.legend .chip.drain').isVisible()).toBe(true);
      expect(await page.evaluate(rootStyle('backgroundColor'))).toBe('rgb(255, 255, 255)');
      await page.emulateMedia({ media: 'screen', reducedMotion: 'reduce' });
      expect(await page.evaluate(rootStyle('scrollBehavior'))).toBe('auto');
    });
  });

  async function inPage(html: string, look: Look, check: (opened: Opened) => Promise<void>) {
    const opened = await open(browser, html, look);
    try {
      await check(opened);
    } finally {
      await opened.page.close();
    }
  }
});
