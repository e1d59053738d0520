/** docs/fidelity.md shows what the inference achieves today. */
import { readFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import { recordingRows } from '../../scripts/bench/fidelity-recordings.ts';
import { figuresOf, pageWith } from '../../scripts/bench/fidelity-table.ts';

let figures: ReturnType<typeof figuresOf>;

beforeAll(async () => {
  figures = figuresOf(await recordingRows());
}, 120_000);

it('holds the figures of every recording; `npm run bench:fidelity -- --write` renews them', () => {
  const page = readFileSync(new URL('../../docs/fidelity.md', import.meta.url), 'utf8');
  expect(page).toBe(pageWith(page, figures.text));
});

it('has no miss, and no median above its limit', () => {
  expect(figures.failures).toEqual([]);
});
