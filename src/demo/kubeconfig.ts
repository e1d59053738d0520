type About = Record<'url' | 'namespace', string> & Partial<Record<'token' | 'caPem', string | undefined>>;

/** A kubeconfig for one server, as JSON, which is YAML too. `caPem` is the server's own certificate. */
export function kubeconfigText({ url, namespace, token, caPem }: About): string {
  const authority = caPem && Buffer.from(caPem).toString('base64');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'loopback', cluster: { server: url, 'certificate-authority-data': authority } }],
    users: [{ name: 'loopback', user: { token } }],
    contexts: [{ name: 'loopback', context: { cluster: 'loopback', user: 'loopback', namespace } }],
    'current-context': 'loopback',
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}
