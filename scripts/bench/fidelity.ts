/**
 * `npm run bench:fidelity`: compares each instant in the container runtime's own log with the interval in the report:
 * as recorded, without the containers' logs, and without Events. Exits 1 if a true instant is outside its interval, if
 * an interval is missing, if the intervals are too wide to be useful, or if docs/fidelity.md shows other figures.
 *
 * `--stories N` adds N simulated exits. `--save FILE` saves the figures; `--compare FILE` prints them beside the saved
 * ones, to compare two versions of the inference. `--write` updates the table in docs/fidelity.md.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { recordingRows, type RecordingRow } from './fidelity-recordings.ts';
import { storyFigures, type StoryFigures } from './fidelity-stories.ts';
import { printComparison, printStories } from './fidelity-compare.ts';
import { withPart } from '../docs/marked-part.ts';
import { figuresOf } from './fidelity-table.ts';

/** The results of one version of the inference. */
export interface Figures {
  recordings: RecordingRow[];
  stories?: StoryFigures;
}

const page = new URL('../../docs/fidelity.md', import.meta.url);

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      stories: { type: 'string' },
      save: { type: 'string' },
      compare: { type: 'string' },
      write: { type: 'boolean' },
    },
  });
  const recordings = await recordingRows();
  const stories = values.stories === undefined ? undefined : storyFigures(Number(values.stories));
  const figures: Figures = { recordings, stories };
  const { text, failures } = figuresOf(recordings);
  process.stdout.write(text);
  const before = readFileSync(page, 'utf8');
  const after = withPart(before, 'figures', `\`\`\`\n${text}\`\`\``);
  if (values.write === true) writeFileSync(page, after);
  else if (before !== after) failures.push('docs/fidelity.md shows other figures: npm run bench:fidelity -- --write');
  if (values.save !== undefined) writeFileSync(values.save, JSON.stringify(figures));
  if (values.compare !== undefined)
    process.stdout.write(printComparison(JSON.parse(readFileSync(values.compare, 'utf8')) as Figures, figures));
  else if (stories) process.stdout.write(printStories(stories));
  failures.forEach((failure) => process.stdout.write(`FAILED: ${failure}\n`));
  return failures.length > 0 ? 1 : 0;
}

process.exitCode = await main();
