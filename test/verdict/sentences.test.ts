/** The sentences of findings, and cases in which there must be no finding. */
import { describe, expect, it } from 'vitest';
import { drains, plainContainer, plainStory } from '../sim/plain-story.ts';
import type { ExitReport, FindingCode } from '../../src/model/report.ts';
import { topics, type TopicKind } from '../../src/verdict/explain.ts';
import {
  adding,
  alone,
  findingCodes,
  ignoresSignal,
  judged,
  listed,
  markedIn,
  stampOf,
  storyReport,
  storyObservations,
} from '../helpers/cases.ts';

const findingOf = ({ verdict }: ExitReport, code: FindingCode) =>
  verdict.findings.find((finding) => finding.code === code);

describe('a pod that is deleted with its namespace or its owner', () => {
  it('gets no advice about replicas, and no finding unmanaged-pod or last-endpoint', () => {
    const rawObservations = storyObservations({ trigger: { kind: 'namespace-deletion', atMs: 1240 } });
    const { at } = markedIn(rawObservations);
    const metadata = { name: 'story', uid: 'uid-story', deletionTimestamp: stampOf(at - 1000) };
    const ending = { kind: 'Namespace', metadata, spec: {}, status: { phase: 'Terminating' } };
    const report = judged(adding(rawObservations, listed(at + 20, 'namespace', ending)));
    expect(report.trigger.kind).toBe('namespace-deletion');
    expect(findingCodes(report)).not.toContain('unmanaged-pod');
    expect(findingCodes(report)).not.toContain('last-endpoint');
    expect(JSON.stringify(report.verdict.findings)).not.toContain('replica');
  });

  it('differs from a deleted bare pod, which gets unmanaged-pod and last-endpoint', () => {
    expect(findingCodes(storyReport())).toEqual(expect.arrayContaining(['unmanaged-pod', 'last-endpoint']));
  });
});

describe('an exit code of 137 that the app chose itself', () => {
  const messageOf = (change: Parameters<typeof alone>[0], graceSeconds: number) => {
    const pod = { ...plainStory().pod, graceSeconds };
    return findingOf(storyReport(alone({ app: drains(600, 137), ...change }, { pod })), 'exit-nonzero')?.message;
  };
  const words = /^app exited with code 137.*, before the kubelet's SIGKILL was due: its own exit code, /;

  it('is reported as such within the grace period and after it', () => {
    expect(messageOf({}, 10)).toMatch(words);
    // The hook takes the whole grace period, so the app exits after its end: the kubelet adds 2 s.
    expect(messageOf({ preStop: { kind: 'sleep', seconds: 2 } }, 2)).toMatch(words);
  });
});

describe('explain', () => {
  const textOf = (kind: TopicKind, name: string) =>
    topics.find((topic) => topic.kind === kind && topic.name === name)?.text;

  it('measures the cleanup from the status that reported the exits, like the report', () => {
    expect(textOf('phase', 'cleanup')?.is).toMatch(/^From the status that reported .*\(containers-done\)/);
    expect(textOf('finding', 'slow-cleanup')?.is).toContain('containers-done');
  });

  it('explains pods of a Job with an expired TTL under owner-deleted', () => {
    expect(textOf('trigger', 'job')?.is).not.toContain('ttl');
    expect(textOf('trigger', 'owner-deleted')?.is).toContain('ttlSecondsAfterFinished');
  });

  it('does not say that nothing was killed if one container was slow and another was killed', () => {
    expect(textOf('finding', 'grace-nearly-spent')?.is).not.toMatch(/nothing was killed/i);
  });

  it('says which shells forward signals', () => {
    expect(textOf('finding', 'shell-as-pid-1')?.known).toMatch(/busybox, bash and newer dash .* sourced/);
  });
});

it('names the containers that were SIGKILLed beside the first', () => {
  const killed = (name: string) => plainContainer({ name, app: ignoresSignal });
  const { summary } = storyReport({ containers: [killed('web'), killed('worker'), killed('proxy')] });
  expect(summary).toMatch(/^SIGKILLed: \w+ showed no reaction to SIGTERM for .*; \w+ and \w+ were SIGKILLed too$/);
});
