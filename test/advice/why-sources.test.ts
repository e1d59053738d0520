/** `why` with sources that do not help: it says so, instead of leaving them out in silence. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { runMain } from '../cli/helpers/in-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'podexit-'));
const auditLog = join(folder, 'audit.log');
writeFileSync(auditLog, '');
afterAll(() => rmSync(folder, { recursive: true }));

it.each([[[]], [['deployment/checkout']]])('recordings and audit logs explain one pod, not %j', async (target) => {
  for (const source of [
    ['--from', folder],
    ['--audit-log', auditLog],
  ]) {
    const { code, stdout, stderr } = await runMain(['why', ...target, ...source]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^error: --from and --audit-log explain one pod\nName it: kubectl podexit why POD/);
  }
});

it.each([
  [['--from', folder], `no recording in ${folder} has an exit of pod "web-0"`],
  [['--audit-log', auditLog, '-n', 'shop'], 'no audit log has an exit of pod "web-0" in namespace "shop"'],
])('says that %j does not have the pod, before it asks a cluster', async (source, sentence) => {
  const { code, stderr } = await runMain(['why', 'web-0', ...source, '--kubeconfig', join(folder, 'none')]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^podexit: .*\nerror: the kubeconfig .* does not exist\n/);
  expect(stderr).toContain(sentence);
});
