/** The machine's own browser, for tests that view a page like a reader. */
import { existsSync, readFileSync } from 'node:fs';
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

/** The texts with a contrast below 4.5 : 1 (WCAG 2), as `2.10 text`. */
export const contrasts = readFileSync(new URL('contrasts.js', import.meta.url), 'utf8');
