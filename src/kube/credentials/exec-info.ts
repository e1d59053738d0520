import { readFileSync } from 'node:fs';
import type { ClusterEntry, ExecEntry } from '../kubeconfig/kubeconfig.ts';

/** KUBERNETES_EXEC_INFO: what a plugin is told about the terminal and, where it asks for it, the cluster. */
export function execInfo(
  exec: ExecEntry,
  cluster: ClusterEntry & { server: string },
  stdinIsTty: boolean,
): { interactive: boolean; json: string } {
  const interactive = exec.interactiveMode !== 'Never' && stdinIsTty;
  const spec = { interactive, ...(exec.provideClusterInfo ? { cluster: clusterInfo(cluster) } : {}) };
  return { interactive, json: JSON.stringify({ kind: 'ExecCredential', apiVersion: exec.apiVersion, spec }) };
}

/** The extension of a cluster that is meant for exec plugins (client-go clientauthentication/v1 Cluster.config). */
const configExtension = 'client.authentication.k8s.io/exec';

function clusterInfo(cluster: ClusterEntry & { server: string }) {
  const config = cluster.extensions?.get(configExtension);
  const authority = authorityData(cluster);
  return {
    server: cluster.server,
    ...(cluster.tlsServerName === undefined ? {} : { 'tls-server-name': cluster.tlsServerName }),
    ...(cluster.insecureSkipTlsVerify ? { 'insecure-skip-tls-verify': true } : {}),
    ...(authority === undefined ? {} : { 'certificate-authority-data': authority }),
    ...(cluster.proxyUrl === undefined ? {} : { 'proxy-url': cluster.proxyUrl }),
    ...(cluster.disableCompression ? { 'disable-compression': true } : {}),
    ...(config === undefined ? {} : { config }),
  };
}

/** Always the data, also where the kubeconfig names a file. The file was read once already, so it is there. */
function authorityData({ certificateAuthorityData, certificateAuthority }: ClusterEntry): string | undefined {
  if (certificateAuthorityData) return certificateAuthorityData;
  return certificateAuthority === undefined ? undefined : readFileSync(certificateAuthority).toString('base64');
}
