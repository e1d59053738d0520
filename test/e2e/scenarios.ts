/** The scenarios of `manifests/`: what podexit reports of each. */
import { casesIn } from '../helpers/case-file.ts';
import type { FindingCode, Outcome } from '../../src/model/report.ts';
import { image, kubectlMeanwhile, pause, pull, readManifest } from '../helpers/cluster.ts';

export interface Expected {
  outcome: Outcome;
  exitCode: number;
  /** Container outcomes, if they are certain on any cluster. */
  containers?: Record<string, string>;
  findings?: FindingCode[];
  /** Arguments of the command after the pod. */
  words?: string[];
  /** The state of the pod before the command runs. */
  when?: 'ready' | 'succeeded' | 'pending';
}

/** To add a scenario, add a manifest and a row. */
export const table = Object.fromEntries(casesIn<Expected>(new URL('scenarios.yaml', import.meta.url)));

export const manifest = (name: string): string => readManifest(new URL(`./manifests/${name}.yaml`, import.meta.url));

/** A pod, or a workload, in which shell programs run. */
export interface Programs {
  /** The program of each container. */
  run: string | string[];
  /** s */
  grace?: number;
  /** preStop of the first container. */
  hook?: object;
  sidecars?: string[];
  /** The program of an init container. */
  init?: string;
  image?: string;
  /** More fields of the pod's spec. */
  spec?: object;
  kind?: 'Deployment' | 'StatefulSet' | 'Job';
}

const inContainer = (script: string): object => ({
  image,
  imagePullPolicy: pull,
  command: ['sh', '-c', script],
});

export function objectOf(name: string, { kind, grace = 10, ...programs }: Programs): object {
  const labels = { scenario: name };
  const containers = (scripts: string[], role: string): object[] =>
    scripts.map((script, index) => ({
      name: `${role}${index}`,
      ...inContainer(script),
      ...(programs.image && { image: programs.image }),
      ...(role === 'sidecar' && { restartPolicy: 'Always' }),
      ...(role === 'app' && index === 0 && programs.hook && { lifecycle: { preStop: programs.hook } }),
    }));
  const spec = {
    terminationGracePeriodSeconds: grace,
    containers: containers([programs.run].flat(), 'app'),
    initContainers: [
      ...containers(programs.sidecars ?? [], 'sidecar'),
      ...(programs.init === undefined ? [] : [{ name: 'init', ...inContainer(programs.init) }]),
    ],
    ...programs.spec,
  };
  if (kind === undefined) return { apiVersion: 'v1', kind: 'Pod', metadata: { name, labels }, spec };
  const once = { metadata: { labels }, spec: { restartPolicy: 'Never', ...spec } };
  if (kind === 'Job') return { apiVersion: 'batch/v1', kind, metadata: { name }, spec: { template: once } };
  const workload = { replicas: 2, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } };
  return { apiVersion: 'apps/v1', kind, metadata: { name }, spec: workload };
}

/** What `kubectl wait` waits for. */
export const conditions = {
  ready: 'condition=Ready',
  succeeded: 'jsonpath={.status.phase}=Succeeded',
  pending: 'jsonpath={.status.phase}=Pending',
};

/** Waits until the pods of this scenario exist and are in this state. Returns one of them. */
export async function podOf(name: string, namespace: string, until: string): Promise<string> {
  const of = ['pod', '-n', namespace, '-l', `scenario=${name}`];
  await kubectlMeanwhile(['wait', ...of, '--for=create', '--timeout=60s']);
  await kubectlMeanwhile(['wait', ...of, `--for=${until}`, '--timeout=180s']);
  // An application that has just been started may not have set its trap yet.
  await pause(1000);
  return (await kubectlMeanwhile(['get', ...of, '-o', 'name'])).split('\n')[0] ?? '';
}
