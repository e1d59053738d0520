/** The cluster of `demo`: the loopback server with one shipped scenario, and what to ask of it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PodexitError } from '../errors.ts';
import { startLoopback } from '../demo/loopback.ts';
import type { Scenario } from '../demo/scenario.ts';
import { listScenarios, loadScenario } from '../demo/scenarios.ts';

export const defaultScenario = 'graceful-exit';

export interface DemoCluster {
  url: string;
  namespace: string;
  pod: string;
  about: string;
  kubeconfig: string;
  /** The words that make podexit do what the recording did: nothing for a plain DELETE, `--attach`, `--force`, … */
  flags: string[];
  close(): Promise<void>;
}

/** Beside the bundle in dist/, or beside the sources. */
const folders = ['./scenarios/', '../scenarios/', '../demo/scenarios/'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
);

export async function scenarioLines(): Promise<{ name: string; about: string }[]> {
  return firstThatWorks((folder) => listScenarios(folder));
}

/** Throws PodexitError `demo.scenario` where there is none of that name, `demo.port` where the port is taken. */
export async function startDemo(name: string, port: number): Promise<DemoCluster> {
  const known = await scenarioLines();
  if (!known.some((one) => one.name === name))
    throw new PodexitError(
      'demo.scenario',
      `there is no scenario "${name}"`,
      `There are: ${known.map((one) => one.name).join(', ')}`,
    );
  const scenario = await firstThatWorks((folder) => loadScenario(folder, name));
  const server = await startLoopback({ scenario, port }).catch((cause: unknown) => {
    throw new PodexitError(
      'demo.port',
      `the cluster cannot listen on port ${port}`,
      'Choose another one with --port, or leave it out.',
      { cause },
    );
  });
  return {
    url: server.url,
    namespace: server.namespace,
    pod: server.pod,
    about: scenario.about,
    kubeconfig: server.kubeconfig(),
    flags: flagsFor(scenario, server.pod),
    close: () => server.close(),
  };
}

/** A file for a kubeconfig that goes away with `remove`. */
export function temporaryKubeconfig(text: string): { file: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'podexit-'));
  const file = join(folder, 'kubeconfig');
  writeFileSync(file, text, { mode: 0o600 });
  return { file, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

function flagsFor({ rows }: Scenario, pod: string): string[] {
  const request = rows.find((row) => row.type === 'request');
  if (request?.type !== 'request' || !request.path.includes(`/pods/${pod}`)) return ['--attach'];
  if (request.path.endsWith('/eviction')) return ['--attach'];
  const grace = (request.body as { gracePeriodSeconds?: number } | undefined)?.gracePeriodSeconds;
  return grace === undefined ? [] : grace === 0 ? ['--force'] : [`--grace-period=${grace}`];
}

async function firstThatWorks<T>(work: (folder: string) => Promise<T>): Promise<T> {
  let failure: unknown;
  for (const folder of folders) {
    try {
      return await work(folder);
    } catch (error) {
      failure ??= error;
    }
  }
  throw failure;
}
