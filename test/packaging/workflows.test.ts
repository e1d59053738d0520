/** Rules for workflows: a job that can sign or publish runs no script of a package, and no token outlives its job. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { archiveOf, platforms } from '../../scripts/release/platforms.ts';
import config from '../../package.json' with { type: 'json' };
import { root } from '../helpers/built.ts';
import { stepOf, workflowOf, type Job } from './helpers/workflow.ts';

const folder = join(root, '.github/workflows');
const jobs = readdirSync(folder).flatMap((file) =>
  Object.entries(workflowOf(file.replace('.yml', '')).jobs).map(([name, job]) => [`${file} ${name}`, job] as const),
);
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

  it('pins every action to a commit, and uses no long-lived token', () => {
    const used = job.steps.flatMap(({ uses }) => uses ?? []);
    expect(used.filter((one) => !/@[0-9a-f]{40}$/.test(one))).toEqual([]);
    expect(JSON.stringify(job)).not.toMatch(/secrets\.(?!GITHUB_TOKEN)/);
  });
});

describe('.github/workflows/release.yml', () => {
  const source = readFileSync(join(folder, 'release.yml'), 'utf8');
  const { jobs, permissions } = workflowOf('release');

  it('grants no permissions by default, and each job lists its own', () => {
    expect(permissions).toEqual({});
    for (const job of Object.values(jobs)) expect(Object.keys(job.permissions ?? {})).not.toEqual([]);
  });

  it('attests the executables, publishes with provenance, and checks every checksum', () => {
    expect(source).toContain('actions/attest-build-provenance@');
    expect(source).toMatch(/npm publish release\/\*\.tgz --ignore-scripts --provenance/);
    expect(source).toContain('sha256sum --check SHA256SUMS');
  });

  it('releases only after the checks of a change have passed', () => {
    expect(jobs['checks']?.steps.map(({ run }) => run)).toContain('bash .ci/run');
    const before = (name: string): string[] => [jobs[name]?.needs ?? []].flat().flatMap((one) => [one, ...before(one)]);
    for (const name of Object.keys(jobs).filter((one) => one !== 'checks')) expect(before(name)).toContain('checks');
  });

  it.each(platforms)('unpacks only the archive of $os $arch to try it', (platform) => {
    const archive = archiveOf(platform, config.version);
    const built = [archive, `${archive}.sha256`].map((name) => `release/${name}`);
    const run = stepOf('release', 'executables', 'Try it as it will be unpacked');
    const globs = run.match(/\brelease\/\S+/g) ?? [];
    const matching = globs.flatMap((glob) => {
      const pattern = glob.split('*').map((part) => part.replaceAll('.', '\\.'));
      return built.filter((file) => new RegExp(`^${pattern.join('[^/]*')}$`).test(file));
    });
    expect(matching).toEqual([`release/${archive}`]);
  });

  it('pushes an image with a lower-case name, as registries require', () => {
    const env = {
      PATH: process.env['PATH'],
      GITHUB_REPOSITORY: 'Some-One/Kubectl-PodExit',
      GITHUB_OUTPUT: join(mkdtempSync(join(tmpdir(), 'podexit-')), 'out'),
    };
    const name = "An image's name has no capitals, which a repository's may have";
    execFileSync('bash', ['-e', '-c', stepOf('release', 'image', name)], { env, stdio: 'ignore' });
    expect(readFileSync(env.GITHUB_OUTPUT, 'utf8')).toBe('name=ghcr.io/some-one/kubectl-podexit\n');
    expect(source).toContain('tags: ${{ steps.image.outputs.name }}:${{ github.ref_name }}');
  });
});
