/** Recordings of pods without an owner. */
import { drains, plainContainer, plainStory } from '../../plain-story.ts';
import type { AppStory, ContainerStory, Story } from '../../story.ts';

const pod = { name: 'api-0', state: 'running', finalizers: [] } as const;
const graceful = (graceSeconds: number, container: Partial<ContainerStory>, change: Partial<Story> = {}): Story =>
  plainStory({ pod: { ...pod, finalizers: [], graceSeconds }, containers: [plainContainer(container)], ...change });

const ignoresSignal: AppStory = { onSignal: { kind: 'ignores' }, lost: false, lines: [] };
const idle = plainStory().kubelet;
const withPatch = { ...idle, cleanupMs: [900, 1000] as const, patchesResources: true };

export const barePods: Record<string, Story> = {
  'exit-143': graceful(10, { app: drains(2, 143) }),
  'no-grace-spec-default': graceful(30, { app: ignoresSignal }),
  'prestop-sleep': graceful(10, { preStop: { kind: 'sleep', seconds: 4 }, app: drains(2000) }, { kubelet: withPatch }),
  'prestop-exceeds-grace': graceful(
    5,
    { preStop: { kind: 'exec', takesMs: 30_000, fails: false }, app: drains(1000) },
    { kubelet: withPatch },
  ),
  'prestop-fails': graceful(8, { preStop: { kind: 'exec', takesMs: 35, fails: true }, app: drains(1000) }),
  'two-services': graceful(
    8,
    { app: drains(3000) },
    {
      services: ['internal', 'public'].map((name) => ({
        name,
        families: ['IPv4'],
        publishNotReadyAddresses: name === 'internal',
        headless: false,
        others: 0,
      })),
    },
  ),
  finalizer: graceful(
    5,
    { app: drains(1000) },
    {
      pod: { ...pod, graceSeconds: 5, finalizers: ['example.com/audit'] },
      later: [{ kind: 'remove-finalizers', atMs: 7000 }],
      kubelet: { ...idle, cleanupMs: [140, 200] },
    },
  ),
  pending: graceful(
    30,
    {},
    { pod: { ...pod, name: 'big-0', graceSeconds: 30, state: 'unscheduled', finalizers: [] }, services: [] },
  ),
  completed: graceful(
    30,
    { app: { ...drains(0), bootLine: 'done' } },
    { pod: { ...pod, name: 'job-0', graceSeconds: 30, state: 'finished', finalizers: [] }, services: [] },
  ),
  crashloop: graceful(
    30,
    { state: { kind: 'crashed', code: 1 }, app: { ...drains(0), bootLine: 'boom' } },
    { kubelet: { ...idle, ackMs: [1, 3], noticeMs: [10, 20] } },
  ),
  'force-delete': graceful(
    10,
    { app: drains(5000) },
    {
      // The seed decides whether the slice is written between the two changes. With this seed it is.
      seed: 4,
      trigger: { kind: 'this-command', atMs: 1240, graceSeconds: 0, uid: false },
    },
  ),
  'multi-container': plainStory({
    pod: { ...pod, name: 'shop-0', graceSeconds: 6, finalizers: [] },
    containers: [
      plainContainer({ name: 'legacy', app: ignoresSignal }),
      plainContainer({
        name: 'web',
        readiness: { periodMs: 1000, failureThreshold: 3, phaseMs: 235 },
        app: { ...drains(1000), closesAfterMs: 1100 },
      }),
      plainContainer({ name: 'worker', app: { onSignal: { kind: 'dies' }, lost: false, lines: [] } }),
    ],
    services: [{ ...plainStory().services[0]!, name: 'shop' }],
    kubelet: { ...withPatch, noticeMs: [480, 490] },
  }),
  'native-sidecar': plainStory({
    pod: { ...pod, name: 'shop-0', graceSeconds: 12, finalizers: [] },
    containers: [
      sidecar('proxy', 'proxy up'),
      sidecar('logs'),
      plainContainer({
        app: { ...drains(3000), closesAfterMs: 3100 },
        readiness: { periodMs: 1000, failureThreshold: 3, phaseMs: 900 },
      }),
    ],
    services: [{ ...plainStory().services[0]!, name: 'shop' }],
  }),
  'grace-shortened': graceful(
    30,
    { app: ignoresSignal, logged: false, readiness: { periodMs: 40_000, failureThreshold: 3, phaseMs: 33_240 } },
    {
      kubelet: { ...withPatch, noticeMs: [1970, 1975] },
      later: [{ kind: 'delete', atMs: 4000, graceSeconds: 3 }],
      services: [{ ...plainStory().services[0]!, name: 'api' }],
    },
  ),
};

function sidecar(name: string, bootLine?: string): ContainerStory {
  const app: AppStory = {
    onSignal: { kind: 'exits', afterMs: 1100, code: 0 },
    lost: false,
    lines: [],
    ...(bootLine === undefined ? {} : { bootLine }),
    saysOnSignal: { afterMs: 90, text: `${name} TERM` },
  };
  return plainContainer({ name, kind: 'sidecar', app });
}
