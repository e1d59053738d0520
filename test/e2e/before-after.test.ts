/**
 * Requests during the deletion of pods, before and after exactly what `fix` prints is applied, on the cluster of
 * KUBECONFIG. A client that learns late that a pod leaves is a probe of the pod itself.
 *
 *     PODEXIT_E2E=1 npx vitest run test/e2e/before-after.test.ts
 *
 * Needs kubectl and the built command. PODEXIT_E2E_IMAGE (busybox) must have a shell, httpd and wget.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { podexit } from '../helpers/built.ts';
import { environment, isWanted, kubectl, newNamespace, readManifest } from '../helpers/cluster.ts';

const namespace = newNamespace();
const manifest = (name: string): string => readManifest(new URL(`./before-after/${name}.yaml`, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'podexit-e2e-'));

/** The text of the manifest with what `fix` changes in it. */
async function fixed(name: string): Promise<string> {
  const file = join(folder, `${name}.yaml`);
  writeFileSync(file, manifest(name));
  const { code, stdout, stderr } = await podexit(['fix', '-f', file, '-o', 'yaml']);
  expect(code, stderr).toBe(0);
  return stdout;
}

it.each(['web', 'shop', 'store'])('fix knows what to do about %s', async (name) => {
  const isSame = (await fixed(name)) === manifest(name);
  expect(isSame).toBe(name === 'store');
});

afterAll(() => rmSync(folder, { recursive: true }));

interface Probe {
  target: string;
  failed: number;
  windows: { start: { earliest: string } }[];
}

describe.runIf(isWanted)('on a real cluster', () => {
  beforeAll(() => void kubectl(['create', 'namespace', namespace]));
  afterAll(() => void kubectl(['delete', 'namespace', namespace, '--wait=false']), 60_000);

  async function deleteOne(name: string, path: string) {
    kubectl(['rollout', 'status', `deployment/${name}`, '-n', namespace, '--timeout=180s']);
    const living = ['get', 'pods', '-n', namespace, '-l', `app=${name}`, '--field-selector', 'status.phase=Running'];
    const pod =
      kubectl([...living, '-o', 'name'])
        .split('\n')
        .at(-1) ?? '';
    const probes = ['--probe', `service/${name}:80${path}`, '--probe', `pod:8080${path}`, '--probe-timeout', '3s'];
    const words = [pod, '-n', namespace, '--yes', ...probes, '--max-lost', '100%', '--timeout', '120s', '-o', 'json'];
    const { stdout, stderr } = await podexit(words, environment);
    expect(stdout, stderr).not.toBe('');
    const report = JSON.parse(stdout) as {
      marks: { name: string; at: { latest: string } }[];
      traffic: { probes: Probe[] };
    };
    const at = (name: string): string => report.marks.find((mark) => mark.name === name)?.at.latest ?? '';
    const [service, own] = report.traffic.probes;
    const end = own?.windows[0]?.start.earliest ?? at('removed');
    return { lost: service?.failed, answeredSeconds: (Date.parse(end) - Date.parse(at('accepted'))) / 1000 };
  }

  it.each([
    ['web', '/'],
    ['shop', '/cgi-bin/page'],
  ])(
    'a pod of %s goes on answering clients that learn late',
    async (name, path) => {
      kubectl(['apply', '-n', namespace, '-f', '-'], manifest(name));
      const before = await deleteOne(name, path);
      kubectl(['apply', '-n', namespace, '-f', '-'], await fixed(name));
      const after = await deleteOne(name, path);
      expect(before.answeredSeconds).toBeLessThan(3);
      expect(after.answeredSeconds).toBeGreaterThan(9);
      expect(after.lost).toBe(0);
    },
    300_000,
  );
});
