import { readFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import type { Kubeconfig } from './kubeconfig.ts';

/** Where Kubernetes mounts the service account of a pod. */
const mounted = '/var/run/secrets/kubernetes.io/serviceaccount';

/** What a process inside a pod has instead of a kubeconfig; undefined where this is no pod. */
export function inClusterKubeconfig(
  env: Readonly<Record<string, string | undefined>>,
  directory = mounted,
): Kubeconfig | undefined {
  const host = env['KUBERNETES_SERVICE_HOST'];
  const port = env['KUBERNETES_SERVICE_PORT'];
  if (!host || !port || read(`${directory}/token`) === undefined) return undefined;
  const name = 'in-cluster';
  return {
    currentContext: name,
    clusters: new Map([
      [
        name,
        { server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`, certificateAuthority: `${directory}/ca.crt` },
      ],
    ]),
    // A file, not its content: the kubelet renews it every hour.
    users: new Map([[name, { tokenFile: `${directory}/token` }]]),
    contexts: new Map([[name, { cluster: name, user: name }]]),
  };
}

/** What kubectl takes inside a pod where neither flag nor context names one (client-go: inClusterClientConfig.Namespace). */
export function inClusterNamespace(
  env: Readonly<Record<string, string | undefined>>,
  directory = mounted,
): string | undefined {
  if (inClusterKubeconfig(env, directory) === undefined) return undefined;
  return env['POD_NAMESPACE'] || read(`${directory}/namespace`)?.trim() || undefined;
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
