/** The sentences of a check name the stop signal that the container gets: of its spec, or of an image that sets another. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { runMain } from '../cli/helpers/in-process.ts';

const file = join(mkdtempSync(join(tmpdir(), 'podexit-')), 'pod.json');
afterAll(() => rmSync(join(file, '..'), { recursive: true }));

async function sentencesOf(containers: readonly object[]): Promise<string> {
  const labels = { app: 'web' };
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', labels }, spec: { containers } };
  const ports = [{ port: 80, targetPort: 8080 }];
  const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'web' }, spec: { selector: labels, ports } };
  writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [pod, service] }));
  const { stdout } = await runMain(['check', '-f', file, '-o', 'json']);
  const { checks } = JSON.parse(stdout) as { checks: { findings: { message: string }[] }[] };
  return checks.flatMap(({ findings }) => findings.map(({ message }) => message)).join('\n');
}

const ports = [{ containerPort: 8080 }];
const hook = { preStop: { exec: { command: ['sleep', '60'] } } };

it.each([
  ['no hook', { image: 'nginx', ports }, 'web has no preStop hook: SIGQUIT comes while'],
  ['a long hook', { image: 'nginx', ports, lifecycle: hook }, 'it is cut off, SIGQUIT comes as'],
  ['another image', { image: 'web:1', ports }, 'web has no preStop hook: its stop signal comes while'],
])('with %s', async (_what, container, sentence) => {
  const sentences = await sentencesOf([{ name: 'web', ...container }]);
  expect(sentences).toContain(sentence);
  if (sentence.includes('SIGQUIT')) expect(sentences).not.toContain('SIGTERM');
});
