/** A scale-down by a HorizontalPodAutoscaler. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { ExitReport } from '../../src/model/report.ts';
import { scenarioFile } from '../helpers/recordings.ts';
import { recordingOf, rowsOf } from '../../scripts/convert/convert.ts';
import { runMain } from '../cli/helpers/in-process.ts';

interface Row {
  at: string;
  type: string;
  resource?: string;
  event?: { object: { metadata: Record<string, unknown>; [field: string]: unknown } };
}

const rows = readFileSync(scenarioFile('scale-to-zero-40'), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Row);
const first = rows.findIndex(({ type, resource, event }) => {
  return type === 'watch' && resource === 'events' && event?.object['reason'] === 'ScalingReplicaSet';
});

/** The rows with an Event of the autoscaler just before the Event of the Deployment. */
function withAutoscaler(message: string): Row[] {
  const row = structuredClone(rows[first]);
  if (!row?.event) throw new Error('the recording has no ScalingReplicaSet');
  const { object } = row.event;
  row.event.object = {
    ...object,
    metadata: { ...object.metadata, name: 'checkout.hpa1', uid: 'hpa1' },
    involvedObject: { kind: 'HorizontalPodAutoscaler', name: 'checkout-hpa' },
    reason: 'SuccessfulRescale',
    message,
    source: { component: 'horizontal-pod-autoscaler' },
  };
  return [...rows.slice(0, first), row, ...rows.slice(first)];
}

it.each([
  ['New size: 0; reason: All metrics below target', ['by HorizontalPodAutoscaler checkout-hpa']],
  ['New size: 7; reason: cpu resource utilization above target', [undefined]],
])('an Event with "%s" leads to the note %j', async (message, notes) => {
  const file = join(mkdtempSync(join(tmpdir(), 'podexit-')), 'scaled.ndjson');
  writeFileSync(file, recordingOf(rowsOf(withAutoscaler(message))));
  const { stdout } = await runMain(['replay', file, '-o', 'json']);
  const { exits } = JSON.parse(stdout) as { exits: ExitReport[] };
  expect(exits).toHaveLength(40);
  expect(new Set(exits.map(({ trigger }) => trigger.kind))).toEqual(new Set(['scale-down']));
  expect([...new Set(exits.map(({ trigger }) => trigger.note))]).toEqual(notes);
});
