import { describe, expect, it } from 'vitest';
import { renderError, renderJson } from '../../src/output/machine/json.ts';
import {
  containerOutcomes,
  findingCodes,
  markNames,
  outcomes,
  phaseNames,
  severities,
  triggerKinds,
} from '../../src/model/report.ts';
import { recordingNames, reportOfRecording } from '../helpers/recordings.ts';
import { reports } from './helpers/exit-reports.ts';
import { hostileExit } from './helpers/reports.ts';
import { unseenIn } from './helpers/unseen.ts';
import { faultsBy, schemaOf, type Schema } from '../helpers/schemas.ts';

const reportSchema = schemaOf('exit-report');
const { $defs: defs, properties } = reportSchema;

const graceful = await reportOfRecording('graceful-exit');

describe('the JSON Schema of the report', () => {
  it.each(reports)('accepts the report %s', (_name, report) => {
    expect(faultsBy('exit-report', JSON.parse(renderJson(report)))).toEqual([]);
  });

  it.each([
    ['outcome', properties?.['verdict']?.properties?.['outcome'], outcomes],
    ['trigger', properties?.['trigger']?.properties?.['kind'], triggerKinds],
    ['mark', defs?.['mark']?.properties?.['name'], markNames],
    ['phase', defs?.['phase']?.properties?.['name'], phaseNames],
    ['container outcome', defs?.['container']?.properties?.['outcome'], containerOutcomes],
    ['finding', defs?.['finding']?.properties?.['code'], findingCodes],
    ['severity', defs?.['finding']?.properties?.['severity'], severities],
  ])('has exactly the values of "%s" in the model', (_what, schema, names) => {
    expect(schema?.enum).toEqual([...names]);
  });

  it.each(recordingNames)('has every key of the report of %s, in the order of the report', async (name) => {
    expect(strayKeys(reportSchema, JSON.parse(renderJson(await reportOfRecording(name))), '')).toEqual([]);
  });

  it.each([
    ['a missing field', { grace: undefined }],
    ['another version', { apiVersion: 'podexit/v2' }],
    ['a time in another format', { gaps: [{ resource: 'pod', from: '2026-11-20 23:04', cause: 'expired' }] }],
    ['an unknown mark', { marks: [{ ...graceful.marks[0], name: 'sigterm' }] }],
    ['evidence that is not a number', { trigger: { kind: 'unknown', evidence: ['1'] } }],
  ])('rejects %s', (_what, change) => {
    expect(faultsBy('exit-report', JSON.parse(JSON.stringify({ ...graceful, ...change })))).not.toEqual([]);
  });

  it('accepts an additional field', () => {
    expect(faultsBy('exit-report', { ...graceful, later: true })).toEqual([]);
  });
});

describe('-o json', () => {
  it('is the report, indented by two, with a final newline and no character that acts on a terminal', () => {
    const text = renderJson(hostileExit);
    expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(hostileExit)));
    expect(text).toMatch(/^\{\n {2}"apiVersion": "podexit\/v1",\n {2}"kind": "ExitReport",\n[^]*\}\n$/);
    expect(unseenIn(text)).toEqual([]);
  });

  it('is the document of an error, whose schema rejects one without a hint', () => {
    const error = { code: 'pod.not-found', message: 'Pod shop/x does not exist.', hint: 'See kubectl get pods.' };
    const document = JSON.parse(renderError(error, 'document')) as object;
    expect(document).toEqual({ apiVersion: 'podexit/v1', kind: 'Error', ...error });
    expect(faultsBy('error', document)).toEqual([]);
    expect(faultsBy('error', { ...document, hint: undefined })).not.toEqual([]);
  });
});

/** Keys that are missing in the schema, or have another order there. */
function strayKeys(schema: Schema, value: unknown, path: string): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => strayKeys(schema, item, path));
  const { properties: known } = resolve(schema);
  if (typeof value !== 'object' || value === null || !known) return [];
  const order = Object.keys(known);
  const entries = Object.entries(value);
  return entries.flatMap(([key, inner], index) => [
    ...(order.indexOf(key) > order.indexOf(entries[index - 1]?.[0] ?? '') ? [] : [`${path}.${key}`]),
    ...(known[key] ? strayKeys(known[key], inner, `${path}.${key}`) : []),
  ]);
}

function resolve(schema: Schema): Schema {
  if (schema.items) return resolve(schema.items);
  return schema.$ref ? resolve(defs![schema.$ref.replace('#/$defs/', '')]!) : schema;
}
