/** The machine's own browser, for tests that view a page like a reader. */
import { existsSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { chromium } from 'playwright-core';

const places = [
  process.env['CHROMIUM_PATH'],
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];

/** The path of a Chromium; undefined if there is none. */
export const chromiumPath = places.find((path) => path !== undefined && existsSync(path));

export const launch = (): Promise<Browser> =>
  chromium.launch({
    executablePath: chromiumPath!,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
    ],
  });

const address = 'https://report.test/';

export interface Look {
  width: number;
  scheme: 'light' | 'dark';
}

export interface Opened {
  page: Page;
  /** What the page printed to the console, threw, or requested from the network. */
  noise: string[];
}

export async function open(browser: Browser, html: string, look: Look): Promise<Opened> {
  const page = await browser.newPage({ viewport: { width: look.width, height: 900 }, colorScheme: look.scheme });
  const noise: string[] = [];
  page.on('console', (message) => noise.push(`console: ${message.text()}`));
  page.on('pageerror', (error) => noise.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => {
    noise.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    if (request.url() !== address) noise.push(`request: ${request.url()}`);
  });
  await page.route(address, (route) => route.fulfill({ body: html, contentType: 'text/html; charset=utf-8' }));
  await page.goto(address);
  return { page, noise };
}

/** Whether anything is wider than the window. */
export const overflows = 'document.documentElement.scrollWidth > innerWidth';

/** The texts with a contrast below 4.5 : 1 (WCAG 2), as `2.10 text`. Source: it runs in the browser. */
export const contrasts = `(() => {
  const parse = (colour) => {
    const [r = 0, g = 0, b = 0, a = 1] = (colour.match(/[\\d.]+/g) ?? []).map(Number);
    return [r, g, b, a];
  };
  const linear = (v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const behind = (element) => {
    const bar = element.closest('.item')?.querySelector('.solid');
    if (element.classList.contains('label') && bar) return parse(getComputedStyle(bar).fill);
    for (let at = element; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour[3] === 1) return colour;
    }
    return [255, 255, 255, 1];
  };
  const texts = [...document.querySelectorAll('body *')].filter(
    (element) =>
      !element.closest('script, title, defs') &&
      element.getClientRects().length > 0 &&
      [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== ''),
  );
  const low = texts.flatMap((element) => {
    const style = getComputedStyle(element);
    const [a, b] = [parse(element instanceof SVGElement ? style.fill : style.color), behind(element)].map(luminance);
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    return ratio < 4.5 ? [ratio.toFixed(2) + ' ' + element.textContent.slice(0, 40)] : [];
  });
  return low;
})()`;
