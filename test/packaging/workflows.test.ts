/** Rules for workflows: a job that can sign or publish runs no script of a package, and no token outlives its job. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { root } from '../helpers/built.ts';

interface Step {
  uses?: string;
  run?: string;
  with?: Record<string, unknown>;
}
interface Job {
  steps: Step[];
  environment?: string;
  permissions?: Record<string, string>;
}

const folder = join(root, '.github/workflows');
const jobs = readdirSync(folder).flatMap((file) => {
  const { jobs: found } = load(readFileSync(join(folder, file), 'utf8')) as { jobs: Record<string, Job> };
  return Object.entries(found).map(([name, job]) => [`${file} ${name}`, job] as const);
});
const commands = ({ steps }: Job): string => steps.map(({ run = '' }) => run).join('\n');

describe.each(jobs)('%s', (_, job) => {
  it('does not persist credentials in its checkout', () => {
    for (const { uses, with: options } of job.steps)
      if (uses?.startsWith('actions/checkout@')) expect(options?.['persist-credentials']).toBe(false);
  });

  it('if it may sign, installs no packages and needs the approval of a maintainer', () => {
    if (job.permissions?.['id-token'] !== 'write') return;
    expect(commands(job)).not.toMatch(/npm (?:ci|install)|npm run|npx/);
    expect(job.environment).toBe('release');
  });

  it('uses no long-lived token', () => {
    expect(JSON.stringify(job)).not.toMatch(/secrets\.(?!GITHUB_TOKEN)/);
  });
});

it('publishes the built tarball, without scripts and with provenance', () => {
  const [, job] = jobs.find(([name]) => name === 'release.yml publish') ?? [];
  expect(job && commands(job)).toMatch(/npm publish release\/\*\.tgz --ignore-scripts --provenance/);
});
