import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startLoopback, type Loopback } from '../sim/faults/faulty-server.ts';
import { hasKubectl } from '../helpers/machines-kubectl.ts';
import { loadRecording } from './helpers/load.ts';

const run = promisify(execFile);

describe.skipIf(!hasKubectl)('the machine’s own kubectl (skipped without one on the PATH)', () => {
  let server: Loopback;
  let folder: string;
  let kubeconfig: string;

  /** Real time: kubectl's clock cannot be replaced. */
  beforeAll(async () => {
    server = await startLoopback({ scenario: loadRecording('exit-143') });
    folder = mkdtempSync(join(tmpdir(), 'loopback-'));
    kubeconfig = join(folder, 'config');
    writeFileSync(kubeconfig, server.kubeconfig());
  });

  afterAll(async () => {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function kubectl(...args: string[]): Promise<string> {
    const { stdout } = await run('kubectl', [...args, '--cache-dir', join(folder, 'cache')], {
      env: { ...process.env, KUBECONFIG: kubeconfig },
      timeout: 120_000,
    });
    return stdout;
  }

  it('gets, describes and reads logs', async () => {
    expect(await kubectl('get', 'pods,svc,endpointslices')).toContain('pod/api-0');
    expect(
      await kubectl('get', 'pods', '-l', 'app=api', '--field-selector', 'status.phase=Running', '-o', 'name'),
    ).toBe('pod/api-0\n');
    expect(await kubectl('describe', 'pod', 'api-0')).toMatch(/Status: +Running[\s\S]*Events:[\s\S]*Started/);
    expect(await kubectl('logs', 'api-0')).toBe('serving on :8080\n');
    expect(await kubectl('auth', 'can-i', 'delete', 'pods')).toContain('yes');
    expect(await kubectl('get', 'pod', 'api-0', '-o', 'wide')).toMatch(/NODE[\s\S]*node1/);
    await expect(kubectl('get', 'pod', 'nope')).rejects.toThrow(/pods "nope" not found/);
  });

  it('deletes and waits until the pod is gone, while other kubectl processes watch it and follow its log', async () => {
    const watching = kubectl(
      'get',
      'pod',
      'api-0',
      '-w',
      '-o',
      'jsonpath={.metadata.deletionGracePeriodSeconds}{"\\n"}',
      '--request-timeout=10s',
    );
    const printing = kubectl('get', 'pods', '-w', '--request-timeout=10s');
    const following = kubectl('logs', '-f', 'api-0');
    const streams = () => server.requests.filter((one) => one.verb === 'watch' || one.subresource === 'log');
    while (streams().length < 3) await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await kubectl('delete', 'pod', 'api-0', '--wait')).toContain('pod "api-0" deleted');
    await server.played;
    expect(await following).toContain('drained, exiting 143');
    expect((await watching.catch((error: { stdout: string }) => error.stdout)).split('\n')).toContain('10');
    const printed = await printing.catch((error: { stdout: string }) => error.stdout);
    expect(printed).toMatch(/^NAME +READY +STATUS +RESTARTS +AGE\napi-0 +1\/1 +Running +0 +\d+[smh]\n/);
    expect(printed).toMatch(/^api-0 +[01]\/1 +Terminating /m);
    await expect(kubectl('get', 'pod', 'api-0')).rejects.toThrow(/not found/);
    expect(server.deletesAccepted).toBe(1);
    expect(await kubectl('get', 'events')).toMatch(/Killing +pod\/api-0 +Stopping container app/);
  });
});
