/** What pages of `explain` say where reports and pages once differed. */
import { describe, expect, it } from 'vitest';
import { topics, type TopicKind } from '../../src/verdict/explain.ts';

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
