/** After a problem during the deletion the report still has all that was observed. */
import { describe, expect, it } from 'vitest';
import type { ExitReport } from '../../src/model/report.ts';
import { podexit } from '../helpers/built.ts';
import { serving } from '../helpers/serving.ts';

describe.concurrent('the pod’s watch is refused after the DELETE', () => {
  it.each([
    ['the permission was revoked', 403],
    ['the credentials expired', 401],
    ['the server no longer has the resource', 404],
  ])('%s: the report covers what was seen', (_, code) =>
    serving(
      'prestop-sleep',
      {
        faults: [
          { kind: 'drop', afterMs: 1000, resource: 'pods' },
          { kind: 'status', code, resource: 'pods', verb: 'watch', afterMs: 1000 },
          { kind: 'status', code, resource: 'pods', verb: 'list', afterMs: 1000 },
        ],
      },
      async ({ server, flags }) => {
        const ran = await podexit([server.pod, ...flags, '-o', 'json', '--timeout', '20s']);
        const report = JSON.parse(ran.stdout) as ExitReport;
        expect(report.kind).toBe('ExitReport');
        expect(report.marks.map(({ name }) => name)).toEqual(expect.arrayContaining(['accepted', 'stopping']));
        expect(report.verdict.outcome).toBe('unknown');
        expect(report.gaps.map(({ resource }) => resource)).toContain('pods');
        expect(ran.stderr).toContain('it is still terminating, and the report covers what was observed so far');
        expect(ran.code).toBe(4);
        expect(server.deletesAccepted).toBe(1);
      },
    ),
  );
});
