/** Several pods: the live table, the lines, and the final card. */
import { describe, expect, it } from 'vitest';
import { rolloutCardLines, endedPodLines } from '../../src/output/text/rollout-card.ts';
import type { NewPod, ServiceCounts } from '../../src/output/text/rollout-facts.ts';
import { createRolloutLive } from '../../src/output/text/rollout-table.ts';
import { penFor, plainStyle } from '../../src/output/palette.ts';
import { textWidth } from '../../src/output/prose.ts';
import type { ProbeReport } from '../../src/model/report.ts';
import type { Report } from '../../src/verdict/report.ts';
import { rolloutNumbers } from '../../src/verdict/rollout.ts';
import { hostileReport, reportNamed } from './helpers/reports.ts';
import type { Happening } from './helpers/screen.ts';
import { screenOf } from './helpers/screen.ts';
import { unseenIn } from './helpers/unseen.ts';
import { endOf, endsAt } from './helpers/card-end.ts';

const pen = penFor(plainStyle);
const graceful = reportNamed('graceful-exit');
const killed = reportNamed('sigkill-after-grace');
const named = (report: Report, name: string): Report => ({
  ...report,
  timeline: {
    ...report.timeline,
    pod: { ...report.timeline.pod, metadata: { ...report.timeline.pod.metadata, name } },
  },
});
const pods = (count: number, report = graceful): Report[] =>
  Array.from({ length: count }, (_, index) => named(report, `web-${index}`));

describe('the card of many pods', () => {
  const card = (reports: readonly Report[], unseen: readonly string[] = []) =>
    rolloutCardLines(rolloutNumbers('deployment/web', reports, { unseen }), { pen, columns: 80 });

  it('begins with the number of pods, and ends with one sentence', () => {
    const lines = card(pods(12));
    expect(lines[0]).toMatch(/^✔ deployment\/checkout {2}12 of 12 pods terminated gracefully/);
    expect(endOf(lines)).toMatch(/^✔ 12 of 12 pods terminated gracefully; longest ≤3\.\ds from SIGTERM to exit$/);
  });

  it('says how its length adds up only if all pods are gone', () => {
    const rowOf = (reports: readonly Report[], unseen: readonly string[] = []) =>
      card(reports, unseen).find((line) => line.startsWith('  exits'));
    const at = (report: Report, ms: number): Report => ({
      ...report,
      timeline: { ...report.timeline, zero: report.timeline.zero - ms },
    });
    const staggered = [at(graceful, 6000), graceful];
    expect(rowOf(staggered)).toMatch(/2 graceful · 10\.\ds: deleted over 6\.0s, all gone 4\.\ds later$/);
    expect(rowOf(staggered, ['web-9'])).toMatch(/10\.\ds in all$/);
    const marks = graceful.timeline.marks.filter(({ name }) => name !== 'removed');
    const { total: _, ...timeline } = { ...graceful.timeline, marks };
    const leaving = { ...graceful, timeline };
    expect(rowOf([at(graceful, 6000), leaving])).toMatch(/ in all$/);
  });

  it('tells the requests that were lost while no pod was terminating from those of the exits', () => {
    const { zero, total } = graceful.timeline;
    const lostAt = (...times: readonly number[]) => {
      const instant = (ms: number) => ({ ...{ basis: 'observed' as const, evidence: [] }, ...timesOf(ms) });
      const timesOf = (ms: number) => ({
        earliest: new Date(ms).toISOString(),
        latest: new Date(ms + 1).toISOString(),
      });
      const windows = times.map((ms) => ({ start: instant(ms), end: instant(ms + 50), failed: 2 }));
      const failed = 2 * times.length;
      const probe: ProbeReport = {
        ...{ target: 'http://shop', via: 'url', ratePerSecond: 5, sent: 100, succeeded: 100 - failed, failed },
        ...{ failures: [{ kind: 'timeout', count: failed }], windows, latencyMs: {} },
      };
      return (reports: readonly Report[], unseen: readonly string[] = []) =>
        rolloutNumbers('deployment/web', reports, { probes: [probe], unseen }).requests.join();
    };
    const gone = zero + (total?.max ?? 0);
    const lost = lostAt(zero - 5000, zero + 500, gone + 900);
    expect(lost([graceful])).toMatch(
      /^100 sent · 6 failed \(timed out\) · 4 of them while none of these pods was terminating/,
    );
    expect(lostAt(zero - 500, zero + 500)([graceful])).not.toContain('terminating');
    // Pods that were not seen may have been terminating.
    const gap = { resource: 'pods', from: zero, cause: 'disconnected' } as const;
    for (const text of [
      lost([graceful], ['web-9']),
      lost([], ['web-9']),
      lost([{ ...graceful, timeline: { ...graceful.timeline, gaps: [gap] } }]),
    ])
      expect(text).not.toContain('terminating');
  });

  it('counts the others that were terminating on the node whose kubelet the slowest pod waited for', () => {
    const waits = { owner: 'kubelet', subject: 'node1', what: 'reported the exits', seconds: 4 } as const;
    const reports = pods(3, { ...graceful, ledger: [waits] });
    const rowOf = (some: readonly Report[]): string =>
      card(some)
        .join('\n')
        .replace(/\n {12}/g, ' ');
    expect(rowOf(reports)).toContain('node1 after the exit; meanwhile 2 others were terminating there');
    expect(rowOf(reports.slice(0, 2))).toContain('; meanwhile 1 other was terminating there');
    expect(rowOf(reports.slice(0, 1))).not.toContain('meanwhile');
    const [first, ...others] = reports.map(({ timeline }) => timeline);
    if (!first) throw new Error('there are no reports');
    const later = others.map((timeline) => ({ ...timeline, zero: first.zero + 60_000 }));
    expect(rowOf([first, ...later].map((timeline) => ({ ...graceful, ledger: [waits], timeline })))).not.toContain(
      '2 others',
    );
  });

  it('claims no number between bounds that are far apart', () => {
    const drain = { min: 0, max: 6400, shown: 2700, basis: 'inferred' as const };
    const graceUsed = drain;
    const [container] = graceful.timeline.containers;
    if (!container) throw new Error('the report has no container');
    const timeline = { ...graceful.timeline, containers: [{ ...container, drain, graceUsed }] };
    const lines = card(pods(2, { ...graceful, timeline })).join('\n');
    expect(lines).toMatch(/^ +stop +max ≤6\.4s from SIGTERM to exit, ≤64% of the grace period$/m);
    expect(lines).toMatch(/longest ≤6\.4s from SIGTERM to exit$/);
  });

  it('says of an outage how long a Service had no ready backend', () => {
    const text = (name: string) =>
      card(pods(2, reportNamed(name)))
        .join(' ')
        .replace(/\s+/g, ' ');
    expect(text('statefulset')).toContain('outage: in 2 of 2 exits, no ready backend in Service db for ≥2.5s');
    expect(text('owner-deleted')).not.toContain('no ready backend');
  });

  it('prints the numbers of a single pod only as an example', () => {
    const text = (reports: readonly Report[]) => card(reports).join(' ').replace(/\s+/g, ' ');
    expect(text([reportNamed('statefulset'), reportNamed('kubelet-restart')])).toMatch(
      /outage: in 2 of 2 exits, for example: no ready backend /,
    );
  });

  it('names the worst three pods, and has the icon of a failure', () => {
    const lines = card([...pods(5), ...pods(4, killed)]);
    expect(lines[0]).toMatch(/^✖/);
    expect(lines.filter((line) => line.includes('SIGKILLed: '))).toHaveLength(3);
    expect(endOf(lines)).toContain('5 of 9 pods terminated gracefully, 4 killed');
  });

  it('says of killed pods why, and what to change', () => {
    const text = card([...pods(2), ...pods(2, killed)])
      .join(' ')
      .replace(/ +/g, ' ');
    expect(text).toMatch(/why no log line and no readiness change of app after SIGTERM; its command ignores SIGTERM/);
    expect(text).toMatch(/fix in the command of app, replace `trap "" TERM` by a trap/);
  });

  it('has at most 25 lines for many pods, the closing sentence as one, and 80 columns', () => {
    for (const reports of [pods(60), [...pods(50), ...pods(10, killed)]]) {
      const lines = card(reports, ['web-x']);
      expect(endsAt(lines) + 1).toBeLessThanOrEqual(25);
      expect(lines.filter((line) => textWidth(line) > 80 && !line.includes('kubectl '))).toEqual([]);
    }
  });

  it('says if no pod was deleted', () => {
    expect(card([]).at(-1)).toBe('✔ no pod was deleted');
  });

  it('escapes strings of the cluster', () => {
    expect(unseenIn([...card([hostileReport]), ...endedPodLines(pen, hostileReport, 'utc')].join(''))).toEqual([]);
  });
});

describe('the table of many pods', () => {
  const play = async (
    columns: number,
    rows: number,
    count: number,
    ended: readonly Report[] = [],
    beside: {
      newPods?: readonly NewPod[];
      held?: ReadonlyMap<string, string>;
      services?: readonly ServiceCounts[];
    } = {},
  ) => {
    const happenings: Happening[] = [];
    const now = graceful.timeline.zero + 2000;
    const running = pods(count).map(({ timeline }) => ({
      timeline: {
        ...timeline,
        marks: timeline.marks.filter(({ at, name }) => at.shown <= now && name !== 'exited'),
        containers: timeline.containers.map(({ exit: _exit, ...one }) => one),
      },
    }));
    const live = createRolloutLive({
      write: (text) => happenings.push({ kind: 'write', text }),
      style: { color: true, unicode: true },
      columns: () => columns,
      rows: () => rows,
      clock: { now: () => now, setTimeout: () => () => {} },
      timestamps: 'utc',
    });
    const done = ended.map((report) => ({ timeline: report.timeline, report }));
    live.show(() => ({
      target: 'deployment/web',
      namespace: 'shop',
      pods: [...done, ...running],
      oldPods: done.length + running.length,
      newPods: [],
      services: [],
      held: new Map(),
      ...beside,
    }));
    const screen = await screenOf({ columns, rows }, happenings);
    live.close();
    return screen.window.map((line) => line.trimEnd());
  };

  it('has a row for each terminating pod, and counts the terminated ones', async () => {
    const lines = await play(100, 24, 4, [...pods(11), ...pods(1, killed)]);
    expect(lines[0]).toContain('shop deployment/web · 0:02 · 12 of 16 pods terminated');
    expect(lines[1]).toContain('11 Graceful, 1 SIGKILLed');
    expect(lines[2]).toMatch(/POD +AGE OF DELETION +PHASE +GRACE USED +SIGKILL IN +RESULT/);
    expect(lines.filter((line) => /^ {2}web-\d/.test(line))).toHaveLength(4);
    expect(lines[3]).toMatch(/web-0 +0:02 +draining +\d+% +[89]s/);
  });

  it('has the new pods with their step, the ready endpoints, and the budget that holds a pod', async () => {
    const newPod = (name: string, step: string, isReady = false): NewPod => ({
      name,
      step,
      isReady,
      seenAt: graceful.timeline.zero,
      ink: 'plain',
    });
    const newPods = [newPod('web-7', 'ready', true), newPod('web-8', 'not scheduled: FailedScheduling')];
    const services = [{ name: 'web', now: 3, fewest: 2, wanted: 4 }];
    const held = new Map([
      ['shop/web-9', 'its eviction was refused: PodDisruptionBudget "web" allows 0 disruptions now'],
    ]);
    const lines = await play(100, 24, 2, [], { newPods, services, held });
    expect(lines[0]).toBe('shop deployment/web · 0:02 · 0 of 2 pods terminated · 1 new ready');
    expect(lines[1]).toBe('  shop/web-9: its eviction was refused: PodDisruptionBudget "web" allows 0 disruptions now');
    const rows = lines.filter((line) => line !== '').map((line) => line.trim().split(/ {2,}/).join(' | '));
    expect(rows.slice(-5)).toEqual([
      'NEW POD | AGE | STEP',
      'web-8 | 0:02 | not scheduled: FailedScheduling',
      'web-7 | 0:02 | ready',
      'SERVICE | READY | FEWEST | WANTED',
      'web | 3 | 2 | 4',
    ]);
  });

  it('wraps the line of a pod with a bad exit code, and has none for a pod that Ctrl-C left behind', async () => {
    const [columns, rows] = [50, 24];
    const happenings: Happening[] = [];
    const live = createRolloutLive({
      write: (text) => happenings.push({ kind: 'write', text }),
      style: plainStyle,
      columns: () => columns,
      rows: () => rows,
      clock: { now: () => 0, setTimeout: () => () => {} },
      timestamps: 'utc',
    });
    live.ended(named(killed, 'web-1'));
    live.ended({ ...named(graceful, 'web-2'), verdict: { ...graceful.verdict, exitCode: 130 } });
    live.close();
    const { written } = await screenOf({ columns, rows }, happenings);
    expect(written.filter((line) => textWidth(line) > columns)).toEqual([]);
    expect(written.join(' ').replace(/ +/g, ' ')).toMatch(/ web-1 ✖ SIGKILLed: .* of its 6s grace period$/);
  });

  it.each([
    [80, 24],
    [60, 20],
    [120, 40],
  ])('never exceeds a window of %i × %i', async (columns, rows) => {
    const lines = await play(columns, rows, 60);
    expect(lines[0]).toContain('deployment/web');
    expect(lines.some((line) => line.includes('more terminating'))).toBe(true);
  });
});
