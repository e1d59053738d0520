/** A recorder that used events.k8s.io for Events: the same facts under other field names. */
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/model/observe/read.ts';
import type { Row } from '../../scripts/convert/rows.ts';
import { narrowToPod } from '../../scripts/convert/narrow.ts';
import type { ExitReport } from '../../src/model/report.ts';
import { findingCodes, judged } from '../helpers/cases.ts';
import { reportOfRecording, rowsOf } from '../helpers/recordings.ts';

/** Converts an Event of the core form to events.k8s.io/v1. */
function renamed(event: JsonObject): JsonObject {
  const { involvedObject, message, source, firstTimestamp, lastTimestamp, count, reportingComponent, ...rest } = event;
  return {
    ...rest,
    apiVersion: 'events.k8s.io/v1',
    regarding: involvedObject,
    note: message,
    reportingController: reportingComponent || (source as JsonObject | undefined)?.['component'],
    deprecatedSource: source,
    deprecatedFirstTimestamp: firstTimestamp,
    deprecatedLastTimestamp: lastTimestamp,
    deprecatedCount: count,
  };
}

function inNewForm(row: Row): Row {
  if (!('resource' in row) || !['events', 'node-events'].includes(row.resource)) return row;
  if (row.type === 'list') return { ...row, objects: row.objects.map(renamed) };
  return row.type === 'watch' ? { ...row, object: renamed(row.object) } : row;
}

const reportInNewForm = async (name: string): Promise<ExitReport> =>
  judged([...narrowToPod(rowsOf(name).map(inNewForm))]);

describe('Events of events.k8s.io', () => {
  it('show that a hook was cut off, and that the grace period ran out', async () => {
    const report = await reportInNewForm('prestop-exceeds-grace');
    expect(report.verdict).toMatchObject({ outcome: 'overran', exitCode: 2 });
    expect(findingCodes(report)).toContain('prestop-cut-off');
  });

  it('show that a hook failed', async () => {
    expect(findingCodes(await reportInNewForm('prestop-fails'))).toContain('prestop-failed');
  });

  it('show that the kubelet restarted', async () => {
    expect(findingCodes(await reportInNewForm('kubelet-restart'))).toContain('kubelet-restarted');
  });

  it.each(['graceful-exit', 'preempted', 'rolling-update', 'node-down', 'taint-evicted'])(
    'give the same report of %s as Events of core/v1',
    async (name) => {
      expect(await reportInNewForm(name)).toEqual(await reportOfRecording(name));
    },
  );
});
