/** What blocks a rollout of a StatefulSet or DaemonSet: only an Event says that no pod could be created. */
import { expect, it } from 'vitest';
import { observe } from '../../src/model/observe.ts';
import type { Observation } from '../../src/model/observation.ts';
import { createObstacles } from '../../src/run/progress/obstacles.ts';

const refusal = (name: string, kind = 'StatefulSet'): Observation =>
  observe(
    {
      at: 1000,
      kind: 'changed',
      stream: 'owner-events',
      change: 'ADDED',
      object: {
        kind: 'Event',
        metadata: { name: `${name}.1` },
        reason: 'FailedCreate',
        message: `create Pod ${name}-0 failed: pods "${name}-0" is forbidden: exceeded quota: tight, requested: pods=1`,
        involvedObject: { kind, name, uid: name },
      },
    },
    1,
    { logText: false },
  );

it('a refused pod of the workload is said until a new pod is there', () => {
  const said: string[] = [];
  const obstacles = createObstacles((sentence) => void said.push(sentence));
  obstacles.workload('statefulset/db', { kind: 'StatefulSet' });
  obstacles.news(refusal('db'));
  obstacles.workload('statefulset/db', { kind: 'StatefulSet' });
  expect(obstacles.text()).toBe('statefulset/db cannot create pods: exceeded quota: tight');
  expect(said).toEqual([obstacles.text()]);
  obstacles.pod('uid-of-db-0', { metadata: { name: 'db-0' } });
  expect(obstacles.text()).toBeUndefined();
});

it.each([refusal('other'), refusal('db', 'DaemonSet')])('a refused pod of another workload is not', (event) => {
  const obstacles = createObstacles(() => {});
  obstacles.workload('statefulset/db', { kind: 'StatefulSet' });
  obstacles.news(event);
  expect(obstacles.text()).toBeUndefined();
});
