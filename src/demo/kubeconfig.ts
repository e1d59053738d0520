/** A kubeconfig for one server, as JSON, which is YAML too. `caPem` is the server's own certificate. */
export function kubeconfigText(server: {
  url: string;
  namespace: string;
  token?: string | undefined;
  caPem?: string | undefined;
}): string {
  const { url, namespace, token, caPem } = server;
  const authority = caPem === undefined ? {} : { 'certificate-authority-data': Buffer.from(caPem).toString('base64') };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'loopback', cluster: { server: url, ...authority } }],
    users: [{ name: 'loopback', user: token === undefined ? {} : { token } }],
    contexts: [{ name: 'loopback', context: { cluster: 'loopback', user: 'loopback', namespace } }],
    'current-context': 'loopback',
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}
