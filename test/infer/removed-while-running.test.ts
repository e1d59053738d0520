/** A pod is removed by force: a container ran until then only if its log ended later than a log does. */
import { expect, it } from 'vitest';
import { drains, plainContainer, plainStory } from '../sim/plain-story.ts';
import { ignoresSignal } from '../helpers/cases.ts';
import { judgeStory } from '../helpers/simulated.ts';
import { withoutLogs } from '../helpers/views.ts';

/** The kubelet reports no exit of the app, as the other container still runs. The forced DELETE comes after 3 s. */
const forced = (drainMs: number) =>
  plainStory({
    containers: [plainContainer({ app: drains(drainMs) }), plainContainer({ name: 'worker', app: ignoresSignal })],
    later: [{ kind: 'delete', atMs: 3000, graceSeconds: 0 }],
  });

it.each([
  { what: 'just before', drainMs: 2990, view: undefined, probable: true, summary: 'app and worker probably still ran' },
  { what: 'long after', drainMs: 8000, view: undefined, probable: undefined, summary: 'app and worker still ran' },
  { what: 'unseen', drainMs: 8000, view: withoutLogs, probable: true, summary: 'app and worker probably still ran' },
])('a container that ended $what the removal: probable is $probable', ({ drainMs, view, probable, summary }) => {
  const { report, wrong } = judgeStory(forced(drainMs), view);
  expect(wrong).toEqual([]);
  expect(report.containers[0]).toMatchObject({ outcome: 'abandoned' });
  expect(report.containers[0]?.probable).toBe(probable);
  expect(report.summary).toContain(summary);
});
