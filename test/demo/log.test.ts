import { describe, expect, it } from 'vitest';
import { append, forget, createLog, since, stateAt, type ChangeLog } from '../../src/demo/data/log.ts';

const pod = (name: string, phase = 'Running') => ({ metadata: { name, namespace: 'n' }, status: { phase } });

function written(): ChangeLog {
  const log = createLog(100, [{ resource: 'pods', object: pod('a') }]);
  append(log, { type: 'ADDED', resource: 'pods', object: pod('b'), revision: 107 });
  append(log, { type: 'MODIFIED', resource: 'pods', object: pod('a', 'Failed') });
  append(log, { type: 'DELETED', resource: 'pods', object: pod('b') });
  return log;
}

function names(log: ChangeLog, revision: number): string[] | 'expired' {
  const state = stateAt(log, revision);
  return state === 'expired' ? state : [...state.keys()].sort();
}

describe('the change log', () => {
  it('gives each change its own revision, and the requested one if it is free', () => {
    expect(written().changes.map(({ revision }) => revision)).toEqual([107, 108, 109]);
    const log = createLog(5, []);
    append(log, { type: 'ADDED', resource: 'pods', object: pod('a'), revision: 9 });
    expect(append(log, { type: 'ADDED', resource: 'pods', object: pod('b'), revision: 8 }).revision).toBe(10);
    expect(log.current.get('pods/n/b')?.object.metadata.resourceVersion).toBe('10');
  });

  it('corrects the type of a write to what it really was', () => {
    const log = createLog(1, []);
    const kinds = (['MODIFIED', 'ADDED', 'DELETED'] as const).map((type) =>
      append(log, { type, resource: 'pods', object: pod('a') }),
    );
    expect(kinds.map(({ type, before }) => [type, before !== undefined])).toEqual([
      ['ADDED', false],
      ['MODIFIED', true],
      ['DELETED', true],
    ]);
  });

  it('returns every change after a revision', () => {
    const log = written();
    const after = (revision: number) => {
      const changes = since(log, revision);
      return changes === 'expired' ? changes : changes.length;
    };
    expect([99, 100, 106, 107, 108, 109, 999].map(after)).toEqual(['expired', 3, 3, 2, 1, 0, 0]);
  });

  it('returns the state at every revision', () => {
    const log = written();
    expect(names(log, 100)).toEqual(['pods/n/a']);
    expect(names(log, 107)).toEqual(['pods/n/a', 'pods/n/b']);
    expect(names(log, 109)).toEqual(['pods/n/a']);
    const state = stateAt(log, 107);
    expect(state !== 'expired' && state.get('pods/n/a')?.object.status).toEqual({ phase: 'Running' });
  });

  it('forgets what was compacted, and nothing after it', () => {
    const log = written();
    forget(log, 107);
    expect(names(log, 106)).toBe('expired');
    expect(since(log, 106)).toBe('expired');
    expect(names(log, 107)).toEqual(['pods/n/a', 'pods/n/b']);
    expect(since(log, 107)).toHaveLength(2);
    forget(log, 999);
    expect(names(log, 109)).toEqual(['pods/n/a']);
    expect(since(log, 109)).toEqual([]);
  });
});
