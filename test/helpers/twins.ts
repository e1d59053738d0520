/** A recording with copies of its pod that terminate together, like replicas in a rollout. */
import type { Row, Scenario } from '../../src/demo/scenarios.ts';

/** Each of `suffixes` replaces the last part of the pod's name (`checkout-754699c75f-5qlrp`). */
export function withTwins(scenario: Scenario, pod: string, suffixes: readonly string[]): Scenario {
  const uid = uidOf(scenario, pod);
  const twins = suffixes.map((suffix, index) => <T>(value: T): T => {
    const renamed = JSON.stringify(value)
      .replaceAll(pod, pod.replace(/[^-]+$/, suffix))
      .replaceAll(uid, uid.replace(/.$/, String(index)));
    return JSON.parse(renamed) as T;
  });
  const isOwn = (value: unknown): boolean => JSON.stringify(value).includes(pod);
  return { ...scenario, rows: scenario.rows.flatMap((row) => rowsWith(row, isOwn, twins)) };
}

type Twin = <T>(value: T) => T;

function rowsWith(row: Row, isOwn: (value: unknown) => boolean, twins: readonly Twin[]): Row[] {
  if (row.type === 'list' && ['pods', 'events'].includes(row.resource)) {
    const items = (row.list.items ?? []).flatMap((item) => [
      item,
      ...(isOwn(item) ? twins.map((twin) => twin(item)) : []),
    ]);
    return [{ ...row, list: { ...row.list, items } }];
  }
  const isAboutOne = row.type === 'log-open' || row.type === 'log' || row.type === 'log-end' || row.type === 'truth';
  const isObject = row.type === 'watch' && ['pods', 'events'].includes(row.resource);
  return (isAboutOne || isObject) && isOwn(row) ? [row, ...twins.map((twin) => twin(row))] : [row];
}

function uidOf({ rows }: Scenario, pod: string): string {
  for (const row of rows)
    for (const item of row.type === 'list' && row.resource === 'pods' ? (row.list.items ?? []) : [])
      if (item.metadata.name === pod) return String(item.metadata.uid);
  throw new Error(`the recording lists no pod ${pod}`);
}
