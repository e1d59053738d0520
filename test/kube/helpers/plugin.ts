export const execVersion = 'client.authentication.k8s.io/v1';

/** What a credential plugin prints. */
export const execCredential = (status: object): string =>
  JSON.stringify({ apiVersion: execVersion, kind: 'ExecCredential', status });

/** A kubeconfig's user entry with a shell script as credential plugin. */
export const execUser = (script: string, more: object = {}): { exec: object } => ({
  exec: { apiVersion: execVersion, command: 'sh', args: ['-c', script], interactiveMode: 'Never', ...more },
});
