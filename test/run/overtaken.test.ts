/** Another client deletes the pod while streams open: it gets no second DELETE, unless a grace flag is given. */
import { describe, expect, it } from 'vitest';
import type { LiveOptions } from '../../src/run/streams/live-run.ts';
import { connected, json } from '../kube/helpers/api.ts';
import { testEnv } from '../kube/helpers/env.ts';
import { onePod, runOf, terminating } from './helpers/one-pod.ts';

/** Another client deletes the pod when its Services are listed. The list arrives late. */
async function deletedByOther(options: Partial<LiveOptions>) {
  const env = testEnv({ speed: 20 });
  const server = await onePod({}, ({ path, method }, response, { now }) => {
    if (method !== 'GET') {
      json(response, 200, { kind: 'Status', status: 'Success' });
      env.after(2000, () => now('DELETED'));
      return true;
    }
    if (!path.endsWith('/services')) return false;
    env.after(1000, () => now('MODIFIED', terminating()));
    const none = { kind: 'ServiceList', metadata: { resourceVersion: '5' }, items: [] };
    env.after(4000, () => json(response, 200, none));
    env.after(18_000, () => now('DELETED'));
    return true;
  });
  const { report, warnings } = await runOf(await connected(server, { env }), options);
  return { report, warnings, sent: server.asked.filter(({ method }) => method !== 'GET') };
}

describe('a deletion by another client before ours', () => {
  it.each([
    ['DELETE', {}],
    ['eviction', { mode: 'evict' as const }],
    ['eviction', { mode: 'evict' as const, retryEvict: true }],
  ])('is traced, and no %s is sent', async (verb, options) => {
    const { report, warnings, sent } = await deletedByOther(options);
    expect(sent).toEqual([]);
    expect(warnings).toEqual([`pod "web" is already terminating: another client was faster, no ${verb} is sent`]);
    expect(report?.marks.map(({ name }) => name)).toEqual(expect.arrayContaining(['accepted', 'removed']));
    expect(report?.marks.map(({ name }) => name)).not.toContain('requested');
    expect(report?.trigger.kind).not.toBe('podexit');
  });

  it('is followed by a DELETE with the requested grace period, and a message', async () => {
    const { report, warnings, sent } = await deletedByOther({ graceSeconds: 2, insist: true });
    expect(sent).toHaveLength(1);
    expect(warnings).toEqual([
      expect.stringMatching(
        /^pod "web" is already terminating: another DELETE is sent with the requested grace period/,
      ),
    ]);
    expect(report?.trigger.kind).not.toBe('podexit');
  });
});
