/** Pages and pictures are up to date, and their links and commands are right. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { renderPermissions, renderPicture, renderRollout, renderTimeline } from '../scripts/docs/readme-parts.ts';
import { exitCodes } from '../src/verdict/policy.ts';
import { runMain } from './cli/helpers/in-process.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const read = (page: string): string => readFileSync(join(root, page), 'utf8');
const readme = read('README.md');
const docs = readdirSync(join(root, 'docs')).filter((file) => file.endsWith('.md'));
const pages = ['README.md', 'CONTRIBUTING.md', ...docs.map((file) => `docs/${file}`)];

it('shows pictures of current output (npm run docs)', async () => {
  expect(read('docs/terminal.svg')).toBe(await renderPicture());
  expect(read('docs/timeline.svg')).toBe(await renderTimeline());
});

it('shows what a rollout prints (npm run docs)', async () => {
  expect(read('docs/ci.md')).toBe(await renderRollout(read('docs/ci.md')));
});

it('shows the Roles that the program prints (npm run docs)', () => {
  const page = read('docs/permissions.md');
  expect(page).toBe(renderPermissions(page));
});

it('is short: at most 1,000 words', () => {
  expect(readme.split(/\s+/).length).toBeLessThanOrEqual(1000);
});

it('names every outcome with its exit code', () => {
  const rows = readme.split('\n').filter((line) => /^\|\s*\d\s*\|/.test(line));
  for (const [outcome, code] of Object.entries(exitCodes))
    expect(
      rows.find((row) => row.includes(`\`${outcome}\``)),
      outcome,
    ).toMatch(new RegExp(`^\\|\\s*${code}\\s*\\|`));
});

describe('links', () => {
  /** As GitHub makes them of headings. */
  const anchorsOf = (page: string): string[] =>
    [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    );

  it.each(pages)('%s links only to existing files and headings', (page) => {
    const links = [...read(page).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, link = '']) => link);
    const broken = links.filter((link) => {
      const [file = '', anchor] = link.split('#');
      const target = file === '' ? page : join(dirname(page), file);
      return !existsSync(join(root, target)) || (anchor !== undefined && !anchorsOf(target).includes(anchor));
    });
    expect(broken).toEqual([]);
  });

  it('lead from the list of pages to every page', () => {
    const list = read('docs/README.md');
    expect(docs.filter((file) => file !== 'README.md' && !list.includes(`(${file})`))).toEqual([]);
  });
});

describe('commands', () => {
  /** The lines of code blocks and the code in sentences that begin with this program, without comments and what follows a pipe. */
  const commandsOf = (page: string): string[] =>
    [...read(page).matchAll(/^ *(kubectl[ -]podexit .*)$|`(kubectl[ -]podexit [^`]+)`/gm)]
      .map(([, line, inline]) =>
        (line ?? inline ?? '').replace(/ +(?:#|>|\||&&).*$/, '').replace(/^kubectl[ -]podexit /, ''),
      )
      .filter((words) => !/[…"'\\$]|[A-Z]{3}|\.\.\./.test(words));

  const isKnown = async (words: string): Promise<boolean> => {
    const argv = words.split(/ +/);
    const [first = ''] = argv;
    const dashes = argv.indexOf('--');
    const flags = argv.slice(0, dashes < 0 ? undefined : dashes).filter((word) => /^-/.test(word));
    const ofCommand = await runMain(['options', first]);
    const help = ofCommand.code === 0 ? ofCommand : await runMain(['options']);
    return flags.every((flag) => help.stdout.includes(flag.replace(/=.*/, '')));
  };

  it.each(pages.filter((page) => !/flags|explain|programs|bench|fidelity/.test(page)))(
    '%s has only flags that the command has',
    async (page) => {
      const wrong: string[] = [];
      for (const words of new Set(commandsOf(page))) if (!(await isKnown(words))) wrong.push(words);
      expect(wrong).toEqual([]);
    },
  );
});
