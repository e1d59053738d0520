/**
 * The flags that are repeated in the commands that podexit suggests: without them a command would use the current context,
 * which may be another cluster with a pod of the same name. Secrets are never repeated.
 */
const repeatedFlags = [
  'kubeconfig',
  'context',
  'cluster',
  'user',
  'server',
  'certificateAuthority',
  'clientCertificate',
  'clientKey',
  'tlsServerName',
  'insecureSkipTlsVerify',
  // Instead of the kubeconfig's `proxy-url` (kubectl 1.37).
  'proxyUrl',
  // kubectl's settings file, for its policy for credential plugins.
  'kuberc',
  'as',
  'asGroup',
  'asUid',
  'asUserExtra',
] as const;

/** The flags that choose the cluster and the user, named as in kubectl; all are optional. */
export interface ConnectOptions extends Partial<
  Record<Exclude<(typeof repeatedFlags)[number], 'asGroup' | 'asUserExtra' | 'insecureSkipTlsVerify'>, string>
> {
  asGroup?: readonly string[];
  /** Each is KEY=VALUE. */
  asUserExtra?: readonly string[];
  insecureSkipTlsVerify?: boolean;
  token?: string;
  username?: string;
  password?: string;
  /** 0 or absent: no limit. Never cuts an open stream. */
  requestTimeoutMs?: number;
  namespace?: string;
  /** The server's audit log shows `kubectl-podexit/VERSION (node)`. */
  version: string;
}

/** The flags that were given, as arguments of a program. */
export const connectionArguments = (options: Partial<ConnectOptions>): string[] =>
  repeatedFlags.flatMap((name) => {
    const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    return [options[name] ?? []].flat().flatMap((value) => {
      if (typeof value === 'string') return [`${flag}=${value}`];
      return value ? [flag] : [];
    });
  });

/** The same for a shell, each with a space before it; empty if none was given. */
export const connectionFlagsOf = (options: Partial<ConnectOptions>): string =>
  connectionArguments({
    ...options,
    server: options.server && withoutSecrets(options.server),
    proxyUrl: options.proxyUrl && withoutSecrets(options.proxyUrl),
  })
    .map((word) => ` ${word.replace(/(?<==).*/s, (value) => quoted(value))}`)
    .join('');

/** An address may contain a password before the host, and a token after the path. */
function withoutSecrets(server: string): string {
  const given = server.trim();
  if (!/[@?#]/.test(given)) return given;
  const scheme = /^[a-z][a-z\d+.-]*:\/\//i.exec(given)?.[0] ?? '';
  // `any:` has no default port, so URL keeps an explicit port such as :443.
  const bare = `any://${given.slice(scheme.length)}`;
  const url = URL.canParse(bare) ? new URL(bare) : undefined;
  // If it is unclear what the password is, hide the address. Without the flag a command would use another cluster.
  if (url === undefined || /@/.test(`${url.pathname}${url.search}${url.hash}`)) return '<the same address>';
  return `${scheme}${url.host}${url.pathname}`;
}

/** Quoted for a POSIX shell or PowerShell if necessary. */
const quoted = (word: string): string =>
  /^[\w%+,./:\\=@-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
