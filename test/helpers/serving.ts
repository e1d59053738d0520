/** A loopback cluster with a kubeconfig on disk. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Loopback } from '../sim/faults/faulty-server.ts';
import { startLoopback, type FaultyOptions } from '../sim/faults/faulty-server.ts';
import { parseScenario, type Scenario } from '../../src/demo/scenarios.ts';
import { scenarioFile, truthsOf } from './recordings.ts';

export interface Serving {
  server: Loopback;
  /** `-n NAMESPACE --kubeconfig FILE` */
  flags: string[];
  folder: string;
}

/** For the built command, in real time. Plays a recording, with the true instants of its containers, during `work`. */
export function serving<T>(
  name: string,
  options: Partial<FaultyOptions>,
  work: (serving: Serving) => Promise<T>,
): Promise<T> {
  const { rows, ...scenario } = parseScenario(readFileSync(scenarioFile(name), 'utf8'));
  const truths = truthsOf(name).map((truth) => ({ type: 'truth' as const, ...truth }));
  return servingScenario({ ...scenario, rows: [...rows, ...truths] }, options, work);
}

export async function servingScenario<T>(
  scenario: Scenario,
  options: Partial<FaultyOptions>,
  work: (serving: Serving) => Promise<T>,
): Promise<T> {
  const server = await startLoopback({ scenario, ...options });
  const folder = mkdtempSync(join(tmpdir(), 'podexit-'));
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, server.kubeconfig());
  try {
    return await work({ server, folder, flags: ['-n', server.namespace, '--kubeconfig', kubeconfig] });
  } finally {
    await server.close();
  }
}
