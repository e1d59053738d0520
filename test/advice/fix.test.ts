/** `fix`: kubectl applies each patch, and a check of the result no longer finds the problem. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { CheckReport } from '../../src/advice/check-report.ts';
import { parseManifests } from '../../src/advice/manifests.ts';
import { hasPods } from '../../src/advice/situation.ts';
import { runMain } from '../cli/helpers/in-process.ts';
import { casesIn } from '../helpers/case-file.ts';
import { hasKubectl } from '../helpers/machines-kubectl.ts';
import { recordingFile } from '../helpers/recordings.ts';
import { serving } from '../helpers/serving.ts';
import { everyNth } from '../helpers/sweep.ts';

const folder = fileURLToPath(new URL('./manifests/', import.meta.url));
const files = readdirSync(folder).sort();
const scratch = mkdtempSync(join(tmpdir(), 'podexit-'));
afterAll(() => rmSync(scratch, { recursive: true }));

const scratchFile = (name: string, text: string): string => {
  const path = join(scratch, name);
  writeFileSync(path, text);
  return path;
};

/** Problems by object, such as `deployment/web drain-race`. */
async function problemsOf(file: string): Promise<string[]> {
  const { stdout } = await runMain(['check', '-f', file, '-o', 'json']);
  const { checks } = JSON.parse(stdout) as CheckReport;
  return checks
    .flatMap((one) =>
      one.findings
        .filter(({ severity }) => severity !== 'info')
        .map(({ code }) => `${one.kind.toLowerCase()}/${one.name} ${code}`),
    )
    .sort();
}

const byHandIn = (stderr: string): string[] =>
  [...stderr.matchAll(/by hand: (\S+): .*\((\S+)\)$/gm)].map(([, name, code]) => `${name} ${code}`).sort();

const fix = (file: string, ...words: string[]) => runMain(['fix', '-f', file, ...words]);

it('keeps an unreadable document unchanged, and fixes the others', async () => {
  const path = join(folder, 'nginx-deployment.yaml');
  const text = readFileSync(path, 'utf8');
  const broken = 'broken: [1\n---\n';
  const { code, stdout, stderr } = await fix(scratchFile('broken.yaml', `${broken}${text}`), '-o', 'yaml');
  const { stdout: alone } = await fix(path, '-o', 'yaml');
  expect(code).toBe(1);
  expect(stderr).toMatch(/broken\.yaml:\d+: Flow sequence/);
  expect(alone).not.toBe(text);
  expect(stdout).toBe(`${broken}${alone}`);
});

it('names a file of a folder that cannot be edited as text, and fixes the others', async () => {
  const inFolder = mkdtempSync(join(scratch, 'folder-'));
  const text = readFileSync(join(folder, 'nginx-deployment.yaml'), 'utf8');
  const probe = 'readinessProbe: {periodSeconds: *g, exec: {command: [ready]}}';
  const aliased = `apiVersion: v1\nkind: Pod\nmetadata: {name: two}\nspec:\n  terminationGracePeriodSeconds: &g 20\n  containers:\n  - {name: app, image: app, lifecycle: {preStop: {sleep: {seconds: 25}}}, ${probe}}\n`;
  writeFileSync(join(inFolder, 'a.yaml'), aliased);
  writeFileSync(join(inFolder, 'b.yaml'), text);
  const { code, stdout, stderr } = await fix(inFolder, '--diff');
  expect(code).toBe(1);
  expect(stderr).toMatch(/a\.yaml:1: left as it is, because it cannot be edited as text/);
  expect(stdout).not.toContain('a.yaml');
  expect(stdout).toContain('+++ ' + join(inFolder, 'b.yaml'));
});

describe('a file of an unusual form means the same after its fix, except for the grace period', () => {
  /** Forms of a text that YAML itself cannot hold. */
  const forms: Record<string, (text: string) => string> = {
    CRLF: (text) => text.replaceAll('\n', '\r\n'),
    'a byte order mark': (text) => `\ufeff${text}`,
    'no line feed at the end': (text) => text.trimEnd(),
    JSON: (text) => JSON.stringify(parse(text), null, 4),
    'JSON in one line': (text) => JSON.stringify(parse(text)),
  };
  it.each(casesIn<string>(new URL('unusual-forms.yaml', import.meta.url)))('%s', async (title, written) => {
    const text = forms[title]?.(written) ?? written;
    const path = scratchFile('form.yaml', text);
    const { stdout } = await fix(path, '-o', 'yaml');
    const read = (source: string) => parseManifests(source, '').manifests.map(({ object }) => object);
    const wanted = JSON.stringify(read(text)).replace('Seconds":20', 'Seconds":70');
    expect(JSON.stringify(read(stdout))).toBe(wanted);
    if (title.startsWith('JSON')) expect(JSON.stringify(JSON.parse(stdout))).toBe(wanted.slice(1, -1));
    else expect(stdout).toContain('# now');
    expect(/\n$/.test(stdout)).toBe(/\n$/.test(text));
    const { stdout: diff } = await fix(path, '--diff');
    if (!title.startsWith('JSON')) expect(diff.match(/^-(?!--).*/gm)).toEqual([expect.stringContaining('Seconds: 20')]);
    const patch = scratchFile('form.patch', diff.replaceAll(path, 'form.yaml'));
    execFileSync('git', ['apply', '-p0', '--whitespace=nowarn', patch], { cwd: scratch });
    expect(readFileSync(path, 'utf8')).toBe(stdout);
  });
});

describe.each(files)('%s', (file) => {
  const path = join(folder, file);
  const text = readFileSync(path, 'utf8');

  it('as fixed YAML has only the problems that need a person, every comment, and few changed lines', async () => {
    const { code, stdout, stderr } = await fix(path, '-o', 'yaml');
    expect(code).toBe(0);
    expect(await problemsOf(scratchFile(file, stdout))).toEqual(byHandIn(stderr));
    const [, listed = ''] = /^# by hand: (.*)$/m.exec(text) ?? [];
    expect(byHandIn(stderr).join('; ')).toBe(listed);
    for (const line of text.split('\n').filter((one) => /^\s*#/.test(one))) expect(stdout).toContain(line);
    const { stdout: diff } = await fix(path, '--diff');
    const removed = diff.split('\n').filter((line) => /^-(?!--)/.test(line));
    expect(removed.length).toBeLessThanOrEqual(6);
  });

  if (!everyNth(2, files).includes(file)) return;
  it.skipIf(!hasKubectl)(
    'as a patch applies with kubectl patch --local, and has a reason for each change',
    async () => {
      const formats = everyNth(4, files).includes(file) ? ['strategic', 'json-patch'] : ['strategic'];
      for (const format of formats) {
        const { stdout, stderr } = await fix(path, '-o', format);
        const patches = stdout.split(/^---$/m).filter((one) => one.trim() !== '');
        let rest = text;
        for (const patch of patches) {
          const [, name = ''] = /^# (?:kubectl patch )?([a-z]+\/[^\s:]+)/m.exec(patch) ?? [];
          if (name === '') continue;
          expect(patch.split('\n').filter((line) => /^\s*# (?!kubectl|job\/)/.test(line)).length).toBeGreaterThan(0);
          const found = parseManifests(text, file).manifests.find(
            ({ object }) => hasPods(object) && `${object.kind?.toLowerCase()}/${object.metadata?.name}` === name,
          );
          const object = scratchFile('object.json', JSON.stringify(found?.object));
          const out = execFileSync(
            'kubectl',
            [
              'patch',
              '--local',
              '-f',
              object,
              `--type=${format.replace('-patch', '')}`,
              '--patch-file',
              scratchFile('patch.yaml', patch),
              '-o',
              'json',
            ],
            { encoding: 'utf8' },
          );
          const others = parseManifests(rest, file).manifests.filter(
            ({ object: one }) => one !== found?.object && `${one.kind?.toLowerCase()}/${one.metadata?.name}` !== name,
          );
          rest = [out, ...others.map(({ object: one }) => JSON.stringify(one))].join('\n---\n');
        }
        const pods = [...stdout.matchAll(/^# (pod\/\S+): the API does not let/gm)].map(([, name]) => name);
        const left = (await problemsOf(scratchFile('rest.yaml', rest))).filter(
          (one) => !pods.includes(one.split(' ')[0]),
        );
        expect(left, format).toEqual(byHandIn(stderr));
      }
    },
  );
});

it('a kustomize component has one patch for each object', async () => {
  const { stdout } = await fix(join(folder, 'classic-sidecars.yaml'), '-o', 'kustomize');
  expect(parse(stdout)).toMatchObject({
    kind: 'Component',
    patches: [
      {
        target: { kind: 'Deployment', name: 'shop' },
        patch: expect.stringContaining('name: cloud-sql-proxy') as string,
      },
    ],
  });
});

describe('of a cluster', () => {
  it.skipIf(!hasKubectl)('a workload: the patch passes a server dry run, and podexit sends only GET requests', () =>
    serving('graceful-exit', {}, async ({ server, flags, folder: home }) => {
      const { code, stdout } = await runMain(['fix', 'deployment/checkout', ...flags]);
      expect(code).toBe(0);
      expect(server.requests.map(({ method }) => method).filter((method) => method !== 'GET')).toEqual([]);
      expect(parse(stdout)).toMatchObject({
        spec: {
          template: {
            spec: {
              terminationGracePeriodSeconds: 25,
              containers: [{ name: 'app', lifecycle: { preStop: { sleep: { seconds: 10 } } } }],
            },
          },
        },
      });
      const patch = join(home, 'patch.yaml');
      writeFileSync(patch, stdout);
      const { KUBECONFIG: _, ...env } = process.env;
      const { execFile } = await import('node:child_process');
      const out = await new Promise<string>((resolve, reject) =>
        execFile(
          'kubectl',
          ['patch', 'deployment/checkout', ...flags, '--dry-run=server', '--patch-file', patch, '-o', 'json'],
          { env },
          (error, text) => (error ? reject(new Error(error.message)) : resolve(text)),
        ),
      );
      expect(await problemsOf(scratchFile('dry-run.json', out))).toEqual([]);
    }),
  );
});

it.skipIf(!hasKubectl).each(['graceful-exit', 'rollout-25'])(
  'of the report of %s: prints one patch that kubectl applies and that removes the finding',
  async (name) => {
    const { stdout: exit } = await runMain(['replay', recordingFile(name), '-o', 'json']);
    const { code, stdout } = await runMain(['fix', scratchFile('exit.json', exit)]);
    expect(code).toBe(0);
    expect(stdout.match(/^spec:/gm)).toHaveLength(1);
    expect(stdout).toMatch(new RegExp(`^# kubectl patch deployment/checkout -n ${name} `, 'm'));
    await serving(name, {}, async ({ server }) => {
      const url = `${server.url}/apis/apps/v1/namespaces/${server.namespace}/deployments/checkout`;
      const deployment = {
        ...((await (await fetch(url)).json()) as object),
        apiVersion: 'apps/v1',
        kind: 'Deployment',
      };
      const service = `kind: Service\nspec: {selector: ${JSON.stringify({ app: 'checkout' })}, ports: [{port: 80}]}\n`;
      const check = (text: string) => problemsOf(scratchFile('live.yaml', `${text}\n---\n${service}`));
      const before = JSON.stringify(deployment);
      const words = ['patch', '--local', '-f', scratchFile('object.json', before), '--type=strategic', '-o', 'json'];
      const patch = ['--patch-file', scratchFile('patch.yaml', stdout)];
      const after = execFileSync('kubectl', [...words, ...patch], { encoding: 'utf8' });
      expect(await check(before)).toContain('deployment/checkout drain-race');
      expect(await check(after)).not.toContain('deployment/checkout drain-race');
    });
  },
);
