/**
 * What newer versions of Kubernetes and runtimes changed about exits, each with its version and source. Elsewhere: exec
 * readiness probes that are cancelled (test/infer/cases/signs.yaml), RestartAllContainers (test/advice/why-restarts.test.ts).
 */
import { expect, it } from 'vitest';
import { mayBeKubeletsOwn, willStart } from '../../src/infer/before-deletion.ts';
import type { Deletion } from '../../src/infer/deletion.ts';
import { refusedDelete } from '../../src/kube/refused.ts';
import { alone, editing, judged, recorded, storyObservations, type Raw } from '../helpers/cases.ts';
import type { AppStory } from '../sim/story.ts';
import { emptyTrace, type Occurrence } from '../../src/model/trace.ts';
import type { RawObservation } from '../../src/model/observation.ts';
import type { ExitReport } from '../../src/model/report.ts';

const exits = (code: number): AppStory => ({ onSignal: { kind: 'exits', afterMs: 300, code }, lost: false, lines: [] });

/** Passes the container's statuses through `edit`. */
const withStatus = (
  all: readonly RawObservation[],
  edit: (status: Record<string, unknown>) => Record<string, unknown>,
): RawObservation[] =>
  editing(all, 'pod', (pod: Raw) => {
    const statuses = (pod.status['containerStatuses'] ?? []) as Record<string, unknown>[];
    return { ...pod, status: { ...pod.status, containerStatuses: statuses.map(edit) } };
  });

const exitMessage = ({ verdict }: ExitReport): string =>
  verdict.findings.find(({ code }) => code === 'exit-nonzero')?.message ?? '';

it('says that CRI-O before 1.36.0 may have lost an exit code of 255 (cri-o 88e8f422b5)', () => {
  const all = storyObservations(alone({ app: exits(255) }));
  const onCrio = withStatus(all, (status) => ({ ...status, containerID: 'cri-o://1' }));
  expect(exitMessage(judged(onCrio))).toContain('its real code may be lost');
  expect(exitMessage(judged(all))).not.toContain('lost');
});

it('names memory as a source of an early 137 with reason Error (containerd before 2.3.0, aa3c50792)', () => {
  const report = judged(storyObservations(alone({ app: exits(137) })));
  expect(exitMessage(report)).toContain('a kill for memory that the runtime did not report');
});

it.each([
  ['since 1.37, by its cause', '', [{ reason: 'DisruptionBudgetNegativeAllowedDisruptions', message: '' }]],
  ['before 1.37, by its text', 'pdb disruptions allowed is negative', []],
  ['with too many disrupted pods', 'DisruptedPods map too big - too many evictions not confirmed', []],
])('blames the controller of a budget whose status is invalid, %s (kubernetes#138003)', (_, message, causes) => {
  const cluster = { server: 'https://x', contextName: 'x', clean: (text: string) => text };
  const refusal = { status: 403, reason: 'Forbidden', message, causes, isPage: false };
  const error = refusedDelete(cluster, { namespace: 'shop', name: 'web-0', evict: true }, refusal);
  expect(error.code).toBe('evict.disruption-budget');
  expect(error.hint).toContain('kube-controller-manager');
});

it('states no stop signal of the spec that the runtime does not report (containerd before 2.3.0, KEP-4960)', () => {
  const all = storyObservations(alone({ app: exits(0) }));
  const named = editing(all, 'pod', (pod: Raw) => {
    const containers = (pod.spec['containers'] ?? []) as Record<string, unknown>[];
    const spec = {
      ...pod.spec,
      containers: containers.map((one) => ({ ...one, lifecycle: { stopSignal: 'SIGUSR1' } })),
    };
    return { ...pod, spec };
  });
  expect(judged(named).containers[0]?.stopSignal).toEqual(judged(all).containers[0]?.stopSignal);
  const reported = withStatus(named, (status) => ({ ...status, stopSignal: 'SIGUSR1' }));
  expect(judged(reported).containers[0]?.stopSignal?.signal).toBe('SIGUSR1');
});

it('starts a failed container again by its own restart policy, not by that of the pod (1.35, KEP-5307)', () => {
  const state = { terminated: { exitCode: 1 } };
  const status = { name: 'app', ready: false, restartCount: 0, state };
  const willStartWith = (restartPolicy?: string): boolean => {
    const container = { name: 'app', restartPolicy };
    const spec = { restartPolicy: 'Never', containers: [container] };
    const deletion = { pod: { metadata: { name: 'web' }, spec, status: { containerStatuses: [status] } } };
    return willStart(deletion as unknown as Deletion, { name: 'app', kind: 'container', container });
  };
  expect([willStartWith(), willStartWith('Never'), willStartWith('OnFailure')]).toEqual([false, false, true]);
});

it('takes the stop of a sidecar for that of a pod whose main containers never restart (1.35, KEP-5307)', () => {
  const killing = { about: { kind: 'Pod', name: 'web', container: 'proxy' }, time: { lo: 1000, hi: 2000 } };
  const isKubeletsOwn = (restartPolicy?: string): boolean => {
    const status = { name: 'app', ready: false, restartCount: 0, state: { terminated: { exitCode: 0 } } };
    const spec = {
      restartPolicy: 'Always',
      initContainers: [{ name: 'proxy', restartPolicy: 'Always' }],
      containers: [{ name: 'app', restartPolicy }],
    };
    const deletion = { pod: { metadata: { name: 'web' }, spec, status: { containerStatuses: [status] } } };
    return mayBeKubeletsOwn(emptyTrace, deletion as unknown as Deletion, killing as unknown as Occurrence);
  };
  expect([isKubeletsOwn(), isKubeletsOwn('Never')]).toEqual([false, true]);
});

/** The answer to the DELETE with a later resourceVersion. */
const answeredLater = (all: readonly RawObservation[]): RawObservation[] =>
  all.map((one): RawObservation => {
    if (one.kind !== 'answered' || one.object === undefined) return one;
    const object = one.object as Raw;
    const resourceVersion = String(BigInt(String(object.metadata['resourceVersion'])) + 9n);
    return { ...one, object: { ...object, metadata: { ...object.metadata, resourceVersion } } };
  });

it('keeps a deletion its own whose answer has the resourceVersion of the removal (1.38, kubernetes#138724)', async () => {
  for (const name of ['force-delete', 'pending', 'completed']) {
    const all = await recorded(name);
    expect(judged(answeredLater(all)).trigger.kind, name).toBe('this-command');
  }
});
