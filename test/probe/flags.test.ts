/** The flags of a probe, and its targets. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { policyFrom } from '../../src/cli/pipeline-flags.ts';
import { probesFrom } from '../../src/cli/probe-flags.ts';
import { parseProbeTarget } from '../../src/probe/target.ts';
import { casesIn } from '../helpers/case-file.ts';

it.each(casesIn<{ shown?: string; refused?: true }>(new URL('targets.yaml', import.meta.url), ['shown', 'refused']))(
  'the target "%s": %o',
  (text, { shown, refused }) => {
    if (refused === undefined) return expect(parseProbeTarget(text).shown).toBe(shown);
    const refusal = { code: 'usage.probe', message: expect.not.stringContaining('4711') as string };
    expect(() => parseProbeTarget(text)).toThrow(expect.objectContaining(refusal) as Error);
  },
);

it('probes a URL 20 times a second and the API server 5 times, over kept and new connections', async () => {
  const [url, service] = await probesFrom({ probe: ['http://shop/', 'service/shop'] }, {});
  expect(url).toMatchObject({ ratePerSecond: 20, timeoutMs: 1000, method: 'GET', keepalive: true, insecure: false });
  expect(url?.expect).toEqual([{ from: 200, to: 399 }]);
  expect(service?.ratePerSecond).toBe(5);
});

it('reads headers from flags, files and the environment, and the flag wins', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'probe-flags-'));
  const file = join(folder, 'headers');
  writeFileSync(file, '# a comment\nAuthorization: Bearer abc\nX-Shop: file\n\n');
  const env = { PODEXIT_PROBE_HEADERS: 'X-Shop: environment\nX-From: environment' };
  const [probe] = await probesFrom(
    { probe: ['http://shop/'], probeHeader: [`@${file}`, 'Host: shop.example.com'] },
    env,
  );
  rmSync(folder, { recursive: true });
  expect(probe?.headers).toEqual({
    ...{ authorization: 'Bearer abc', 'x-shop': 'file' },
    ...{ 'x-from': 'environment', host: 'shop.example.com' },
  });
});

it.each([
  [{ probeRate: '20' }, '--probe-rate needs --probe'],
  [{ maxLost: '0' }, '--max-lost needs --probe'],
  [{ probe: ['http://shop/'], probeRate: '501' }, '--probe-rate'],
  [{ probe: ['http://shop/'], probeRate: 'fast' }, '--probe-rate'],
  [{ probe: ['http://shop/'], probeTimeout: '0' }, '--probe-timeout'],
  [{ probe: ['http://shop/'], probeExpect: '399-200' }, '--probe-expect'],
  [{ probe: ['http://shop/'], probeMethod: 'CONNECT' }, '--probe-method'],
  [{ probe: ['http://shop/'], probeCa: '/nowhere/ca.pem' }, '--probe-ca'],
  [{ probe: ['shop'] }, 'is not a target'],
])('refuses %o', async (flags, words) => {
  await expect(probesFrom(flags, {})).rejects.toThrow(words);
});

it.each(['Authorization Bearer hunter2-hunter2', 'X-Key: hunter2\u0001', 'Bad Name: hunter2'])(
  'prints nothing of a refused header: %j',
  async (header) => {
    const refusal = probesFrom({ probe: ['http://shop/'], probeHeader: [header] }, {});
    await expect(refusal).rejects.toThrow(/^--probe-header(?!.*hunter2)/);
    await expect(refusal).rejects.toMatchObject({ hint: expect.not.stringContaining('hunter2') as string });
  },
);

it('reads --max-lost as a number or a percentage', async () => {
  const config = false;
  expect((await policyFrom({ config })).policy.gates).toHaveLength(0);
  await expect(policyFrom({ config, maxLost: '0.5' })).rejects.toThrow('--max-lost');
  expect((await policyFrom({ config, maxLost: '0.1%' })).policy.gates).toHaveLength(1);
});
