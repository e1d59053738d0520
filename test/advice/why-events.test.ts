/** Events of pods that had one name, repeated Events, and restarts of a pod that lives: what `why` takes them for. */
import type { CoreV1Event, V1Pod } from '@kubernetes/client-node';
import { expect, it } from 'vitest';
import { factsOf } from '../../src/advice/why/event-facts.ts';
import { presentPod } from '../../src/advice/why/from-events.ts';
import { gonePod } from '../../src/advice/why/gone-pod.ts';
import { whyText } from '../../src/advice/why/report.ts';
import { plainPen } from '../../src/output/palette.ts';
import { runMain } from '../cli/helpers/in-process.ts';
import { casesIn, pattern } from '../helpers/case-file.ts';
import { serving } from '../helpers/serving.ts';

/** A minute ago, so that a server counts it as recent. */
const start = Math.floor(Date.now() / 1000) * 1000 - 60_000;
const stampAt = (seconds: number): string => new Date(start + seconds * 1000).toISOString().replace('.000', '');

interface EventText {
  reason: string;
  message?: string;
  /** Of the object that it is about. */
  kind?: string;
  name?: string;
  uid?: string;
  fieldPath?: string;
  at: [number, number] | number;
  component?: string;
}

/** What the Events of these reasons have if a case does not say it. */
const usual: Record<string, Partial<EventText>> = {
  Killing: { message: 'Stopping container app' },
  Scheduled: { message: 'Successfully assigned' },
  TaintManagerEviction: { message: 'Marking for deletion Pod x/ledger-0', component: 'taint' },
  SuccessfulDelete: {
    message: 'delete Pod ledger-0 in StatefulSet ledger successful',
    ...{ kind: 'StatefulSet', name: 'ledger', component: 'statefulset-controller' },
  },
};

function eventOf(text: EventText): CoreV1Event {
  const { reason, message, at, component = 'kubelet', ...about } = { ...usual[text.reason], ...text };
  const [first, last] = [at].flat() as [number, number?];
  return {
    metadata: { name: `x.${reason}.${first}`, namespace: 'statefulset', creationTimestamp: stampAt(first) },
    ...{ reason, message, count: last === undefined ? 1 : 4, source: { component } },
    ...{ firstTimestamp: stampAt(first), lastTimestamp: stampAt(last ?? first) },
    involvedObject: { kind: 'Pod', name: 'ledger-0', namespace: 'statefulset', ...about },
  } as unknown as CoreV1Event;
}

/** Its container ended with 137 at 40 s, and runs again, unless `containerStatus` says otherwise. */
const living = (condition?: string, containerStatus: object = {}): V1Pod =>
  ({
    metadata: { name: 'ledger-0', namespace: 'statefulset', uid: 'now', resourceVersion: '1' },
    spec: {
      terminationGracePeriodSeconds: 60,
      containers: [{ name: 'app', image: 'app', livenessProbe: { terminationGracePeriodSeconds: 10 } }],
    },
    status: {
      phase: 'Running',
      conditions: condition === undefined ? [] : [{ type: condition, status: 'False' }],
      containerStatuses: [
        {
          ...{ name: 'app', ready: true, restartCount: 1, image: '', imageID: '', state: { running: {} } },
          lastState: { terminated: { exitCode: 137, reason: 'Error', finishedAt: stampAt(40) } },
          ...containerStatus,
        },
      ],
    },
  }) as unknown as V1Pod;

interface Case {
  events: EventText[];
  /** The pod is there, perhaps with a condition of this type. */
  lives?: { condition?: string };
  by?: string;
  /** Why its kubelet stopped it by itself. */
  stoppedFor?: string;
  trigger?: string;
  summary?: string;
  moments?: string[];
  has?: string;
  never?: string;
}

const fields = ['events', 'lives', 'by', 'stoppedFor', 'trigger', 'summary', 'moments', 'has', 'never'] as const;

it.each(casesIn<Case>(new URL('why-events.yaml', import.meta.url), fields))('%s', (_, one) => {
  const pods = one.lives ? [living(one.lives.condition)] : [];
  const facts = factsOf(one.events.map(eventOf));
  const ofNode = facts.filter(({ kind }) => kind === 'Node');
  const gone = gonePod('ledger-0', { facts, pods, workloads: [] }, ofNode);
  const { by, trigger, summary, moments } = { summary: '', ...(pods[0] ? presentPod(pods[0], 'shop', gone) : gone) };
  const said = moments.map(({ what }) => what);
  if (one.by) expect(by).toMatch(pattern(one.by));
  if (one.stoppedFor) expect(gone.stoppedFor).toMatch(pattern(one.stoppedFor));
  if (one.trigger) expect(trigger).toBe(one.trigger);
  if (one.summary) expect(summary).toMatch(pattern(one.summary));
  if (one.moments) expect(said).toEqual(one.moments);
  if (one.has) expect(said).toContain(one.has);
  const all = [by, summary, ...said, ...moments.map(({ name }) => name)].join('\n');
  if (one.never) expect(all).not.toMatch(pattern(one.never));
});

it.each([
  [
    'its own exit, which is later than that of an earlier pod of its name',
    {},
    /^not deleted, phase Running; app exited/,
  ],
  ['the earlier pod if none of its own containers has exited', { restartCount: 0, lastState: {} }, /^stopped by/],
])('of a pod that lives it tells of %s', (_, containerStatus, summary) =>
  serving('statefulset', {}, async ({ server, flags }) => {
    const killing = { reason: 'Killing', uid: 'before', at: 5 };
    const probe = 'Container app failed liveness probe, will be restarted';
    const restarted = { reason: 'Killing', message: probe, uid: 'now', fieldPath: 'spec.containers{app}', at: 35 };
    for (const one of [killing, restarted].map(eventOf)) server.write('events', 'MODIFIED', one as never);
    server.write('pods', 'MODIFIED', living(undefined, containerStatus) as never);
    const { stdout } = await runMain(['why', 'ledger-0', ...flags, '-o', 'json']);
    expect((JSON.parse(stdout) as { summary: string }).summary).toMatch(summary);
  }),
);

it('prints no row above one with an earlier time, however wide the moments are', () => {
  const moment = (name: string, earliest: number, latest: number) =>
    ({ name, what: name, source: 'an Event', earliest: start + earliest, latest: start + latest }) as const;
  // Sorted by their earliest instants, the second would come before the third, which is printed with an earlier time.
  const moments = [moment('cordoned', 0, 1000), moment('stopping', 4000, 6000), moment('created', 4300, 4700)];
  const known = { pod: { namespace: 'shop', name: 'web-0' }, heading: '', summary: 'stopped', cannotTell: [], moments };
  const lines = whyText(known as never, plainPen, 100);
  expect(lines.flatMap((line) => /^ {2}(\+[\d.]+s)/.exec(line)?.[1] ?? [])).toEqual(['+4.0s', '+4.5s']);
});
