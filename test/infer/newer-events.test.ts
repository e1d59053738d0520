/** An API server or a recorder that gives Events as events.k8s.io/v1: the same facts under other field names. */
import { expect, it } from 'vitest';
import type { JsonObject } from '../../src/model/observe/read.ts';
import type { RawObservation } from '../../src/model/observation.ts';
import { mustReport, observationsOf, rawObservationsOf, reportOfRecording, traceOf } from '../helpers/recordings.ts';

/** Converts an Event of the core form to events.k8s.io/v1. */
function renamed(object: unknown): JsonObject {
  const { involvedObject, message, source, firstTimestamp, lastTimestamp, count, reportingComponent, ...rest } =
    object as JsonObject;
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

function inNewForm(one: RawObservation): RawObservation {
  if (!('stream' in one) || !one.stream.endsWith('events')) return one;
  if (one.kind === 'listed') return { ...one, objects: one.objects.map(renamed) };
  return one.kind === 'changed' ? { ...one, object: renamed(one.object) } : one;
}

it.each(['prestop-exceeds-grace', 'kubelet-restart', 'preempted'])('gives the same report of %s', async (name) => {
  const all = (await rawObservationsOf(name)).map(inNewForm);
  expect(JSON.stringify(all)).toContain('deprecatedSource');
  expect(mustReport(traceOf(observationsOf(all)))).toEqual(await reportOfRecording(name));
});
