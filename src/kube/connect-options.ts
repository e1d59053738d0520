/** What the flags say about the cluster, named as kubectl's; all are optional. */
export interface ConnectOptions {
  kubeconfig?: string;
  context?: string;
  cluster?: string;
  user?: string;
  /** --server */
  server?: string;
  token?: string;
  username?: string;
  password?: string;
  /** --as */
  as?: string;
  asGroup?: readonly string[];
  asUid?: string;
  /** KEY=VALUE each. */
  asUserExtra?: readonly string[];
  certificateAuthority?: string;
  clientCertificate?: string;
  clientKey?: string;
  insecureSkipTlsVerify?: boolean;
  tlsServerName?: string;
  /** 0 or absent: none. Never cuts an open stream. */
  requestTimeoutMs?: number;
  namespace?: string;
  /** `kubectl-podexit/<this> (node)` is how the server's audit log names us. */
  version: string;
}

/**
 * The connection flags of a run, for the commands that it advises: without them a command would ask the
 * cluster of the current context, which may be another one with a pod of the same name.
 */

type Named = Exclude<
  keyof ConnectOptions,
  'token' | 'username' | 'password' | 'requestTimeoutMs' | 'namespace' | 'version'
>;

/** In kubectl's words. Secrets are never repeated; where they were given, so must they be again. */
const flags: Record<Named, string> = {
  kubeconfig: '--kubeconfig',
  context: '--context',
  cluster: '--cluster',
  user: '--user',
  server: '--server',
  certificateAuthority: '--certificate-authority',
  clientCertificate: '--client-certificate',
  clientKey: '--client-key',
  tlsServerName: '--tls-server-name',
  insecureSkipTlsVerify: '--insecure-skip-tls-verify',
  as: '--as',
  asGroup: '--as-group',
  asUid: '--as-uid',
  asUserExtra: '--as-user-extra',
};

/** As arguments of a command, each with a blank before it; empty where none was given. */
export function reachOf(options: Partial<ConnectOptions>): string {
  const words = Object.entries(flags).flatMap(([name, flag]) => {
    const value = options[name as Named];
    if (value === undefined || value === false) return [];
    if (value === true) return [flag];
    return (typeof value === 'string' ? [value] : value).map(
      (one) => `${flag}=${quoted(name === 'server' ? withoutSecrets(one) : one)}`,
    );
  });
  return words.map((word) => ` ${word}`).join('');
}

/** A server's address may hold a password before its host, and a token after its path. */
function withoutSecrets(server: string): string {
  const given = server.trim();
  if (!/[@?#]/.test(given)) return given;
  const scheme = /^[a-z][a-z\d+.-]*:\/\//i.exec(given)?.[0] ?? '';
  // Of a scheme that knows no port, so that one that is written stays.
  const bare = `any://${given.slice(scheme.length)}`;
  const url = URL.canParse(bare) ? new URL(bare) : undefined;
  // Where it is unclear what is a password, nothing is shown; a command without the flag would ask another cluster.
  if (url === undefined || /@/.test(`${url.pathname}${url.search}${url.hash}`)) return '<the same address>';
  return `${scheme}${url.host}${url.pathname}`;
}

/** As a POSIX shell or PowerShell takes it. */
const quoted = (word: string): string =>
  /^[\w%+,./:\\=@-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
