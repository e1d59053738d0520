/** Kubernetes 1.28 and newer: what an older server does not report costs precision, but never the outcome. */
import { expect, it } from 'vitest';
import type { FaultyOptions } from '../sim/faults/faulty-server.ts';
import type { Scenario } from '../../src/demo/scenarios.ts';
import type { ExitReport } from '../../src/model/report.ts';
import { heldAgainst } from '../helpers/truth.ts';
import { edited, loadRecording } from '../demo/helpers/load.ts';
import { sideBySide } from './helpers/side-by-side.ts';
import { traced } from './helpers/traced.ts';

type Json = Record<string, unknown>;

/** Changes every object of the recording in place. */
function eachObject(scenario: Scenario, change: (object: Json) => void): Scenario {
  return edited(scenario, (row) => {
    if (row.type === 'list') (row.list.items ?? []).forEach((item) => change(item));
    if (row.type === 'watch') change(row.event.object);
    if (row.type === 'response' && row.body) change(row.body as Json);
  });
}

const statusOf = (object: Json): Json => (object['status'] as Json | undefined) ?? {};

const withoutGeneration = (object: Json): void => void delete statusOf(object)['observedGeneration'];

function withoutSandboxCondition(object: Json): void {
  const status = statusOf(object);
  const conditions = status['conditions'] as { type: string }[] | undefined;
  if (conditions) status['conditions'] = conditions.filter(({ type }) => type !== 'PodReadyToStartContainers');
}

/** As controllers write them that use events.k8s.io: without count, first and last time, but with an eventTime. */
function inNewerForm(object: Json): void {
  if (!('involvedObject' in object)) return;
  const stamp = object['firstTimestamp'] ?? object['eventTime'];
  const component = (object['source'] as Json | undefined)?.['component'];
  Object.assign(object, {
    eventTime: typeof stamp === 'string' ? stamp.replace('Z', '.000000Z') : stamp,
    firstTimestamp: null,
    lastTimestamp: null,
    reportingComponent: component,
    reportingInstance: (object['source'] as Json | undefined)?.['host'] ?? '',
    source: {},
    action: 'Killing',
  });
  delete object['count'];
}

const cases: Record<string, { server?: Partial<FaultyOptions>; change?: (object: Json) => void }> = {
  'streaming lists ignored': { server: { streamingLists: 'ignore', version: 'v1.30.4' } },
  'streaming lists refused, no observedGeneration, no PodReadyToStartContainers and newer Events': {
    server: { streamingLists: 'refuse', version: 'v1.28.15' },
    change: (object) => {
      withoutGeneration(object);
      withoutSandboxCondition(object);
      inNewerForm(object);
    },
  },
};

const names = ['graceful-exit', 'sigkill-after-grace', 'prestop-sleep', 'multi-container', 'finalizer', 'statefulset'];

const plainRuns = new Map(names.map((name) => [name, traced(loadRecording(name))]));

const endOf = ({ verdict, containers }: ExitReport) => ({
  outcome: verdict.outcome,
  containers: containers.map(({ name, outcome }) => `${name} ${outcome}`).sort(),
});

it.each(Object.entries(cases))(
  '%s: the outcomes are the same, and every instant contains the truth',
  async (_, one) => {
    await sideBySide(names, names.length, async (name) => {
      const scenario = loadRecording(name);
      const fair = await plainRuns.get(name);
      const run = await traced(one.change ? eachObject(scenario, one.change) : scenario, { server: one.server ?? {} });
      if (!fair?.report || !run.report) throw new Error(`${name}: ${String(run.error)}`);
      expect({ name, ...endOf(run.report) }).toEqual({ name, ...endOf(fair.report) });
      expect({ name, missed: heldAgainst(run.report, run.truths).filter(({ hit }) => !hit) }).toEqual({
        name,
        missed: [],
      });
      expect(run.deletesAccepted).toBe(1);
    });
  },
);

it('a server without sidecar support has plain init containers, which are not reported as sidecars', async () => {
  const scenario = edited(loadRecording('native-sidecar'), (row) => {
    const plain = (object: unknown): void => {
      const spec = (object as Json)['spec'] as Json | undefined;
      for (const one of (spec?.['initContainers'] as Json[] | undefined) ?? []) delete one['restartPolicy'];
    };
    if (row.type === 'list') (row.list.items ?? []).forEach(plain);
    if (row.type === 'watch') plain(row.event.object);
    if (row.type === 'response') plain(row.body ?? {});
  });
  const { report } = await traced(scenario);
  expect(report?.containers.filter(({ kind }) => kind === 'sidecar')).toEqual([]);
  expect(report?.containers.find(({ name }) => name === 'app')?.outcome).toBe('completed');
});

it('podexit does not ask again for streaming lists if the server refuses them', async () => {
  const { requests } = await traced(loadRecording('graceful-exit'), { server: { streamingLists: 'refuse' } });
  const refused = requests.filter(({ url, status }) => url.includes('sendInitialEvents') && status === 422);
  // The streams that were opened before the first answer arrived.
  expect(refused.length).toBeLessThanOrEqual(3);
  expect(refused.length).toBeGreaterThan(0);
});
