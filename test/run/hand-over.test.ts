/** Who there was when a pod began to terminate, as a waiting watch hands it to the pod's run. */
import { expect, it } from 'vitest';
import type { Foregoing } from '../../src/run/foregoing.ts';
import { handOverSiblings } from '../../src/run/hand-over.ts';
import type { Run } from '../../src/run/live.ts';
import { siblingTarget } from '../../src/run/watched.ts';
import { run } from '../../src/run/run.ts';
import type { Sighting } from '../../src/model/observation.ts';
import { agesIn } from '../../src/infer/siblings.ts';
import { adding, attached, listed, markedIn, recorded, stampOf, without } from '../helpers/cases.ts';
import type { Raw } from '../helpers/cases.ts';

const graceful = attached(await recorded('graceful-exit'));
const marked = markedIn(graceful);

/** Created in the second of the deletion: by its stamp it may have come before or after. */
const created = (name: string): Raw => ({
  ...marked.object,
  metadata: { ...marked.object.metadata, name, uid: name, creationTimestamp: stampOf(marked.at) },
});

/** The ages of two pods of the workload, of which a watch by these labels had heard the one when the deletion came. */
async function agesAfter(labels: string, ...others: Raw[]): Promise<Record<string, string>> {
  const target = siblingTarget('shop', { spec: { selector: { matchLabels: { app: 'checkout' } } } });
  if (!target) throw new Error('a selector selects');
  const told: Sighting[] = [];
  const before: Partial<Foregoing> = {
    since: marked.at,
    ending: { pod: {}, at: marked.at },
    siblings: { labels, pods: [created('there'), ...others] },
  };
  const join = handOverSiblings(
    { options: { before }, deliver: async (one: Sighting) => void told.push(one) } as unknown as Run,
    target,
  );
  const lookedAt = marked.at + 20;
  join(lookedAt);
  const first = listed(lookedAt, 'siblings', created('there'), created('newcomer'));
  const trace = await run({ source: adding(without(graceful, 'siblings'), ...told, first), logText: false });
  const ageOf = agesIn(trace);
  return Object.fromEntries([...trace.siblings].map(([uid, one]) => [uid, ageOf(one)]));
}

it.each(['app=checkout', 'app==checkout', 'app in (checkout, cart)', 'app', 'app!=cart', '', ' app = checkout '])(
  'tells who came after it, to a watch of all of them: %j',
  async (labels) => {
    expect(await agesAfter(labels)).toMatchObject({ there: 'unknown', newcomer: 'new' });
  },
);

it.each(['app=checkout,tier=web', 'tier notin (db)', '!tier', 'app=cart', 'app in (cart)', 'app>1', 'app=checkout,'])(
  'tells nothing where who was not heard may have been left out: %j',
  async (labels) => {
    expect(await agesAfter(labels)).toMatchObject({ there: 'unknown', newcomer: 'unknown' });
  },
);

it('of others that were watched with them it says nothing', async () => {
  const { metadata } = created('other');
  expect(
    await agesAfter('app', { ...marked.object, metadata: { ...metadata, labels: { app: 'cart' } } }),
  ).not.toHaveProperty('other');
});
