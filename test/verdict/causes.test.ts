/** The cause of an exit on the card's first two lines and in the ledger, by recordings of a real cluster. */
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { renderText } from '../../src/output/text/lines.ts';
import { missingReplacementText } from '../../src/run/group/finish.ts';
import { deletedText } from '../../src/output/pod-facts.ts';
import type { RawObservation } from '../../src/model/observation.ts';
import type { ExitReport, LedgerOwner } from '../../src/model/report.ts';
import type { Report } from '../../src/verdict/report.ts';
import { runMain } from '../cli/helpers/in-process.ts';
import { mustRender, observationsOf, rawObservationsIn, recordingFile, traceOf } from '../helpers/recordings.ts';

const ownRecording = (name: string): string => fileURLToPath(new URL(`recordings/${name}.ndjson`, import.meta.url));

const reportIn = async (file: string): Promise<Report> =>
  mustRender(traceOf(observationsOf(await rawObservationsIn(file))));

interface Cause {
  readonly sentence: string;
  readonly file: string;
  /** In the first two lines of the card. */
  readonly says: RegExp;
  readonly saysNot?: RegExp;
  /** The owner of the longest stretch of the ledger; absent as long as the pod is there. */
  readonly owner?: LedgerOwner;
}

const causes: readonly Cause[] = [
  {
    sentence: 'an API server that was killed, not the kubelet that waited for it',
    file: ownRecording('api-server-killed'),
    says: /the API server did not answer for up to \d\.\ds/,
    saysNot: /kubelet/,
    owner: 'api-server',
  },
  {
    sentence: 'an API server that stood still for 9 s and broke no connection',
    file: ownRecording('api-server-stood-still'),
    says: /the API server did not answer for up to 9\.2s/,
    saysNot: /volumes|unexplained|kubelet/,
    owner: 'api-server',
  },
  {
    sentence: 'an API server that was too busy to answer',
    file: recordingFile('apiserver-busy-delete'),
    says: /≈1\ds waiting for the API server/,
    saysNot: /kubelet/,
    owner: 'api-server',
  },
  {
    sentence: 'an admission webhook that held up our DELETE, and those of the kubelet too',
    file: ownRecording('slow-webhook'),
    says: /gone after 22\.0s: ≈20s waiting for an admission webhook/,
    saysNot: /kubelet|unexplained|API server/,
    owner: 'admission',
  },
  {
    sentence: 'an API server that was stopped before the kubelet reported the exits',
    file: ownRecording('api-server-stopped'),
    says: /gone after 22\.6s: ≈20s waiting for the API server/,
    saysNot: /kubelet|unexplained/,
    owner: 'api-server',
  },
  {
    sentence: "an admission webhook that held up the kubelet's DELETE, not the cleanup",
    file: ownRecording('slow-webhook-in-cleanup'),
    says: /gone after 25\.8s: ≈24s waiting for an admission webhook$/,
    saysNot: /cleanup|unexplained/,
    owner: 'admission',
  },
  {
    sentence: 'a container runtime that was stopped, although the exit is not known',
    file: ownRecording('runtime-stopped'),
    says: /the end of app was not observed; the container runtime was unavailable \(FailedKillPod\)/,
    saysNot: /unexplained/,
    owner: 'runtime',
  },
  {
    sentence: 'a container runtime that stood still as one of those that the kubelet may have waited for',
    file: ownRecording('runtime-frozen-in-stop'),
    says: /≈9s waiting for the kubelet on node1 or its container runtime to clean up$/,
    saysNot: /API server|unexplained/,
    owner: 'kubelet',
  },
  {
    sentence: 'the node, although nothing but our questions shows that the API server was well',
    file: ownRecording('runtime-frozen-api-server-well'),
    says: /≈8s waiting for the kubelet on node1 or its container runtime to clean up$/,
    saysNot: /API server|unexplained/,
    owner: 'kubelet',
  },
  {
    sentence: 'an API server that was paused, by our question alone',
    file: ownRecording('api-server-paused'),
    says: /≈5s waiting for the API server$/,
    saysNot: /kubelet|etcd/,
    owner: 'api-server',
  },
  {
    sentence: 'the storage of an API server that answers from memory only',
    file: ownRecording('storage-stood-still'),
    says: /the API server's storage \(etcd\) did not answer for up to 8\.2s/,
    saysNot: /kubelet|unexplained/,
    owner: 'api-server',
  },
  {
    sentence: "a sidecar's preStop hook that was cut off",
    file: ownRecording('sidecar-hook-cut-off'),
    says: /the preStop hook of proxy was still running when the 8s grace period ended/,
    owner: 'pre-stop',
  },
  {
    sentence: 'a postStart hook that still ran, not an image pull',
    file: recordingFile('poststart-hang'),
    says: /the kubelet waited ≈11s for the postStart hook of app/,
    saysNot: /image pull|did not respond/,
    owner: 'post-start',
  },
  {
    sentence: 'SIGKILL for a command that ignores SIGTERM, without a hedge',
    file: recordingFile('grace-shortened'),
    says: /app was still running ≈30\.0s after SIGTERM/,
    saysNot: /probably|may also be/,
    owner: 'application',
  },
  {
    sentence: 'no reaction to SIGTERM, although its readiness probe fails after the kill',
    file: ownRecording('../../advice/exits/killed-as-its-probe-failed'),
    says: /app showed no reaction to SIGTERM for ≈6s \(exit 137\)/,
    owner: 'application',
  },
  {
    sentence: 'a kubelet that restarted while the application was shutting down',
    file: ownRecording('kubelet-restarted'),
    says: /the kubelet restarted meanwhile/,
    owner: 'unexplained',
  },
  {
    sentence: 'a node that was down',
    file: recordingFile('node-down'),
    says: /the kubelet on node1 did not respond for 62\.1s \(node1 was NotReady\)/,
    owner: 'kubelet',
  },
  {
    sentence: 'a container runtime that stood still beside an application that ignores its signal',
    file: recordingFile('containerd-restart-ignoring-app'),
    says: /app ignored SIGTERM .* the container runtime was unavailable \(FailedKillPod\)[^]*: 16\.8s by the container runtime/,
    owner: 'runtime',
  },
  {
    sentence: 'that the split is not known if the log names the signal later than a runtime that is well sends it',
    file: ownRecording('runtime-frozen'),
    says: /app exited 2\.4–9\.6s after SIGTERM[^]*≈3s unexplained until app got SIGTERM/,
    owner: 'application',
  },
  {
    sentence: 'that a Job counts the exit 0 of cut-off work as a success',
    file: ownRecording('job-stopped'),
    says: /Job crunch counts exit 0 as a success, whether or not its work was done/,
    owner: 'kubelet',
  },
  {
    sentence: 'that a Job counts a deleted pod as failed before it has ended, whatever its exit code',
    file: ownRecording('job-counted-at-once'),
    says: /Job jobok counted it as failed while it was still running/,
    saysNot: /success/,
    owner: 'application',
  },
  {
    sentence: 'that a Job does not count the exit of a pod that it stopped itself',
    file: ownRecording('job-deadline'),
    says: /Job import ended it \(DeadlineExceeded\) and does not count its exit/,
    owner: 'application',
  },
  {
    sentence: "the pod's deadline, for which the kubelet had begun before the deletion",
    file: ownRecording('deadline-before-delete'),
    says: /the kubelet had begun to stop app before the deletion \(DeadlineExceeded\)/,
    saysNot: /for the kubelet|unexplained/,
    owner: 'application',
  },
  {
    sentence: 'a preStop hook that never ends, of a pod that is still there',
    file: ownRecording('hook-that-loops'),
    says: /still terminating after 12s: waiting for app to exit, whose preStop hook \(exec\) may still run/,
  },
  {
    sentence: 'the time to live of a Job',
    file: ownRecording('job-ttl'),
    says: /gone after 0\.1s \(its Job, whose ttlSecondsAfterFinished of 9s was over\)/,
    owner: 'api-server',
  },
  {
    sentence: 'what keeps a replacement from starting',
    file: ownRecording('image-not-pulled'),
    says: / · replacement not ready \(ImagePullBackOff\)$/,
    owner: 'kubelet',
  },
  {
    sentence: 'the quota that keeps a replacement from being created',
    file: ownRecording('replacement-not-created'),
    says: / · no replacement yet \(failed quota: tight\)$/,
    owner: 'kubelet',
  },
  {
    sentence: 'the quota that keeps a StatefulSet from creating one, by its Event',
    file: ownRecording('statefulset-over-quota'),
    says: / · no replacement yet \(failed quota: tight\)$/,
    owner: 'kubelet',
  },
  {
    sentence: 'beside a short deletion, that the container had just restarted, and for which probe',
    file: ownRecording('deleted-after-a-restart'),
    says: / · app had restarted 1 time, last after exit 0, as its liveness probe had failed$/,
    owner: 'kubelet',
  },
  {
    sentence: 'a finalizer, by name',
    file: recordingFile('finalizer'),
    says: /finalizer example\.com\/audit held the pod for 5\.6s/,
    owner: 'finalizers',
  },
];

describe('the first two lines of the card name', () => {
  it.each(causes)('$sentence', async ({ file, says, saysNot, owner }) => {
    const report = await reportIn(file);
    const lines = [report.answer.headline, deletedText(report)].join('\n');
    expect(lines).toMatch(says);
    if (saysNot) expect(lines).not.toMatch(saysNot);
    const [longest] = [...report.ledger].sort((a, b) => b.seconds - a.seconds);
    expect(longest?.owner).toBe(owner);
  });
});

it.each(['slow-webhook', 'slow-webhook-in-cleanup'])(
  "names the webhook in a deletion by kubectl too, by how long the kubelet's DELETE took (%s)",
  async (name) => {
    const all = await rawObservationsIn(ownRecording(name));
    const attached = all.flatMap((one): RawObservation[] => {
      if (one.kind === 'requested' || one.kind === 'answered') return [];
      return [one.kind === 'began' ? { ...one, mode: 'attach' } : one];
    });
    const report = mustRender(traceOf(observationsOf(attached)));
    expect(report.answer.headline).not.toContain('cleanup');
    expect(deletedText(report)).toMatch(
      /^gone after 1\d\.\ds: ≈1\ds waiting for an admission webhook or the API server$/,
    );
  },
);

it.each([
  [
    'scheduled, as its node was cordoned,',
    'replacement-not-scheduled',
    'replacement ready after ≈13s: ≈11s until it was scheduled',
  ],
  [
    'started, as a volume was missing,',
    'replacement-not-started',
    'replacement ready after ≈45s: ≈44s until it was started',
  ],
  [
    'started, for a reason that only Events give,',
    'replacement-without-volume',
    'replacement ready after ≈17s: ≈17s until it was started (FailedMount)',
  ],
])('names the step of a replacement that was late to be %s', async (_step, name, text) => {
  const { stdout } = await runMain(['replay', ownRecording(name), '-o', 'lines']);
  expect(stdout).toContain(text);
});

it('names the rollout of pods whose SuccessfulDelete the limit on Events dropped', async () => {
  const { stdout } = await runMain(['replay', ownRecording('rollout-without-its-events'), '-o', 'json']);
  const { exits } = JSON.parse(stdout) as { exits: ExitReport[] };
  expect(exits.map(({ trigger }) => trigger.kind)).toEqual(['rollout', 'rollout']);
});

it('names the step that the replacement did not take before --timeout', async () => {
  const trace = traceOf(observationsOf(await rawObservationsIn(ownRecording('image-not-pulled'))));
  expect(missingReplacementText(trace)).toMatch(
    / is gone, but its replacement "failing-pull-0" was not started by --timeout$/,
  );
});

it('a bound on an exit that is longer than the grace period is not printed as a part of it', async () => {
  const text = renderText(await reportIn(ownRecording('api-server-stopped-longer')));
  expect(text).toMatch(/after at most 21\.0s, grace\s+period 20s/);
  expect(text).not.toMatch(/21\.0s of 20s/);
});

it('a deadline on another day is printed with its date', async () => {
  const text = renderText(await reportIn(ownRecording('hook-that-loops')));
  expect(text).toContain('deletionTimestamp 2026-12-06 10:41:26 (grace period 604800s)');
});
