/** Deletions without a trace (--wait=false, --dry-run): lost answers, replaced pods and interrupts. */
import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { Ports } from '../../src/run/ports.ts';
import { json, serve, status } from '../kube/helpers/api.ts';
import { runMain } from './helpers/in-process.ts';

const podOf = (uid: string) => ({ kind: 'Pod', apiVersion: 'v1', metadata: { name: 'web', namespace: 'shop', uid } });
const conflict = (message: string) => status(409, 'Conflict', message);
const whileRead =
  'Operation cannot be fulfilled on Pod "web": the UID in the precondition (1) does not match the UID in record (2)';
const byStore =
  'Operation cannot be fulfilled on pods "web": StorageError: invalid object, Code: 4, Key: /registry/pods/shop/web, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: 1, UID in object meta: 2';

/** A server that replaces the pod just when its deletion is requested. */
async function replacing(answer: (response: ServerResponse) => void) {
  let uid = '1';
  const api = await serve(({ method }, response) => {
    if (method === 'GET') return json(response, 200, podOf(uid));
    uid = '2';
    answer(response);
  });
  return { api, flags: ['-n', 'shop', '-s', api.url] };
}

describe('a pod that was replaced between the read and the write', () => {
  it.each([
    ['the API server', '--wait=false', whileRead],
    ['the store', '--wait=false', byStore],
    ['the store, of an eviction', '--wait=false --evict', byStore],
    ['the store, of a dry run', '--dry-run=server', byStore],
  ])('is not deleted, and not reported as deleted: the message of %s', async (_, given, message) => {
    const { api, flags } = await replacing((response) => json(response, 409, conflict(message)));
    const ran = await runMain(['web', ...given.split(' '), ...flags]);
    expect(ran).toMatchObject({ code: 1, stdout: '' });
    expect(ran.stderr).toContain('was replaced by another one of the same name; podexit did not delete the new pod');
    expect(api.asked.filter(({ method }) => method !== 'GET')).toHaveLength(1);
  });
});

it('reports that another client may have deleted a pod that is gone after an inconclusive answer', async () => {
  const { flags } = await replacing((response) =>
    json(response, 500, status(500, '', 'etcdserver: request timed out')),
  );
  const ran = await runMain(['web', '--wait=false', ...flags]);
  expect(ran.code).toBe(0);
  expect(ran.stderr).toBe(
    'podexit: no answer to the delete request arrived, but pod "web" is gone: deleted by it, or by another client\n',
  );
});

it('a dry run is repeated after an inconclusive answer, since it had no effect', async () => {
  let tries = 0;
  const api = await serve(({ method }, response) => {
    if (method === 'GET') return json(response, 200, podOf('1'));
    tries += 1;
    if (tries === 1) return json(response, 500, status(500, '', 'etcdserver: request timed out'));
    json(response, 200, podOf('1'));
  });
  const ran = await runMain(['web', '--dry-run=server', '-n', 'shop', '-s', api.url]);
  expect(ran).toMatchObject({ code: 0, stderr: '' });
  expect(api.asked.map(({ method }) => method)).toEqual(['GET', 'DELETE', 'DELETE']);
});

describe('Ctrl-C', () => {
  /** Interrupts when the first request with this method arrives. That request is never answered. */
  async function interruptedAt(method: string, words: readonly string[]) {
    let press: Parameters<Ports['onSignal']>[0] = () => {};
    const api = await serve((asked, response) => {
      if (asked.method === method) press('SIGINT');
      else json(response, 200, podOf('1'));
    });
    return runMain(['web', ...words, '-n', 'shop', '-s', api.url], {
      onSignal: (listener) => {
        press = listener;
        return () => {};
      },
    });
  }

  it.each([
    ['before the pod was read', 'GET', '--wait=false', 'Nothing was deleted.'],
    ['of a dry run', 'DELETE', '--dry-run=server', 'Nothing was deleted.'],
    ['after the DELETE', 'DELETE', '--wait=false', 'it is not known whether the server accepted it'],
    ['after the eviction', 'POST', '--wait=false --evict', 'it is not known whether the server accepted it'],
  ])('%s prints whether the pod was deleted', async (_, method, words, fate) => {
    const ran = await interruptedAt(method, words.split(' '));
    expect(ran).toMatchObject({ code: 130, stdout: '' });
    expect(ran.stderr).toContain('SIGINT: interrupted');
    expect(ran.stderr).toContain(fate);
  });
});

it('--ignore-not-found accepts a pod that disappeared before its DELETE arrived', async () => {
  const api = await serve(({ method }, response) => {
    if (method === 'GET') json(response, 200, podOf('1'));
    else json(response, 404, status(404, 'NotFound', 'pods "web" not found'));
  });
  const words = ['web', '--wait=false', '-n', 'shop', '-s', api.url];
  expect(await runMain([...words, '--ignore-not-found'])).toEqual({ code: 0, stdout: '', stderr: '' });
  expect((await runMain(words)).stderr).toContain('was gone before its deletion was requested');
});

it('a server without the eviction API does not mean that the pod is gone', async () => {
  const api = await serve(({ method }, response) => {
    if (method === 'GET') json(response, 200, podOf('1'));
    else json(response, 404, status(404, 'NotFound', 'the server could not find the requested resource'));
  });
  const ran = await runMain(['web', '--evict', '--wait=false', '--ignore-not-found', '-n', 'shop', '-s', api.url]);
  expect(ran.code).toBe(1);
  expect(ran.stderr).toContain('failed (404): the server could not find the requested resource');
});

it('-i asks about the existing pod, and deletes no other pod with its name', async () => {
  let uid = '1';
  const api = await serve(({ method, body }, response) => {
    if (method === 'GET') return json(response, 200, podOf(uid));
    const asked = JSON.parse(body) as { preconditions: { uid: string } };
    json(response, asked.preconditions.uid === uid ? 200 : 409, podOf(uid));
  });
  const words = ['web', '-i', '--wait=false', '-n', 'shop', '-s', api.url];
  const replaced = await runMain(words, { answers: ['y'], ask: () => ((uid = '2'), Promise.resolve('y')) });
  expect(replaced.code).toBe(1);
  expect(replaced.stderr).toContain('was replaced by another one');
  expect(api.asked.every(({ method }) => method === 'GET')).toBe(true);
  expect(await runMain(words, { answers: ['y'] })).toMatchObject({ code: 0 });
});

it('-i does not ask about a missing pod', async () => {
  const api = await serve((_, response) => json(response, 404, status(404, 'NotFound', 'pods "web" not found')));
  const ran = await runMain(['web', '-i', '-n', 'shop', '-s', api.url], { answers: ['y'] });
  expect(ran.code).toBe(1);
  expect(ran.stderr).not.toContain('[y/N]');
});
