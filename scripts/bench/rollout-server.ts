/**
 * `rollout-server.ts PODS OTHERS`: plays a scale-down of PODS beside OTHERS that stay. With `worked` as a third argument
 * each change takes CPU time instead of its recorded time: on a message it begins, and reports how long it took, ms.
 * Exits with its parent.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { startLoopback } from '../../src/demo/loopback.ts';
import { parseScenario } from '../../src/demo/scenarios.ts';
import { scenarioFile } from '../../test/helpers/recordings.ts';

/** What the process reports. */
export interface PlayedWorkload {
  url: string;
  namespace: string;
  kubeconfig: string;
}

interface KubeObject {
  metadata: { name: string; uid: string };
  involvedObject?: { name: string };
}

interface Row {
  type: string;
  resource?: string;
  pod?: string;
  list?: { items: KubeObject[] };
  event?: { type: string; object: KubeObject };
}

const [pods = 0, others = 0] = process.argv.slice(2, 4).map(Number);
const isWorked = process.argv[4] === 'worked';
const rows = readFileSync(scenarioFile('scale-to-zero-40'), 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line) as Row);
const recorded =
  rows.find(({ type, resource }) => type === 'list' && resource === 'pods')?.list?.items.map((pod) => pod.metadata) ??
  [];

/** A copy of a recorded pod with its own name and uid. */
const copies = Array.from({ length: pods + others }, (_, index) => {
  const { name = '', uid = '' } = recorded[index % recorded.length] ?? {};
  const tail = String(index).padStart(4, '0');
  return { of: name, uid, name: `${name}${tail}`, ownUid: `${uid.slice(0, -4)}${tail}`, isDying: index < pods };
});

type Copy = (typeof copies)[number];

const copied = <T>(value: T, { of, uid, name, ownUid }: Copy): T =>
  JSON.parse(JSON.stringify(value).replaceAll(of, name).replaceAll(uid, ownUid)) as T;

const podOf = ({ metadata, involvedObject }: KubeObject): string => involvedObject?.name ?? metadata.name;

function scaled(row: Row): Row[] {
  const isOfPods = row.resource === 'pods' || row.resource === 'events';
  if (row.list && isOfPods) {
    const items = row.list.items.flatMap((item) =>
      copies.flatMap((copy) => (copy.of === podOf(item) ? [copied(item, copy)] : [])),
    );
    return [{ ...row, list: { ...row.list, items } }];
  }
  const pod = row.pod ?? (isOfPods && row.event ? podOf(row.event.object) : undefined);
  if (pod === undefined || !recorded.some(({ name }) => name === pod)) return [row];
  return copies.flatMap((copy) => (copy.isDying && copy.of === pod ? [copied(row, copy)] : []));
}

const isOfPods = ({ type, resource }: Row): boolean => type === 'watch' && /^(pods|events)$/.test(resource ?? '');
const all = rows.flatMap(scaled);
const kept = isWorked ? all.filter(({ type }) => ['about', 'list', 'ready', 'log-open'].includes(type)) : all;
const text = kept.map((row) => JSON.stringify(row));
const server = await startLoopback({ scenario: parseScenario(text.join('\n')), attachDelayMs: 1500 });
const played: PlayedWorkload = { url: server.url, namespace: server.namespace, kubeconfig: server.kubeconfig() };
process.send?.(played);
process.on('message', () => void worked(all.filter(isOfPods)).then((tookMs) => process.send?.(tookMs)));
process.on('disconnect', () => process.exit());

/** MiB hashed for each change: with it a pod takes about a fifth of a second of CPU time, less than on a real node. */
const workMiB = 12;

/** One pod after the other, as fast as the machine can. */
async function worked(changes: readonly Row[]): Promise<number> {
  const began = performance.now();
  for (const { name } of copies)
    for (const { resource = '', event } of changes.filter(({ event: one }) => one && podOf(one.object) === name)) {
      for (let done = 0; done < workMiB; done += 1) {
        createHash('sha256')
          .update(Buffer.alloc(2 ** 20))
          .digest();
        await new Promise((resolve) => setImmediate(resolve));
      }
      if (event) server.write(resource, event.type as 'ADDED', event.object as Parameters<typeof server.write>[2]);
    }
  return performance.now() - began;
}
