import { setMaxListeners } from 'node:events';
import { PodexitError } from '../errors.ts';
import type { Cluster, ClusterMemory } from './cluster.ts';
import { connectionFlagsOf, type ConnectOptions } from './connect-options.ts';
import { resolveCredentials } from './credentials/resolve.ts';
import { createClient, urlOf } from './http/client.ts';
import { chooseProxy, createTransport, createWire } from './http/transport.ts';
import { choose } from './kubeconfig/choose.ts';
import type { ClusterEntry } from './kubeconfig/parse.ts';
import { loadKubeconfig } from './kubeconfig/load.ts';
import { createRedactor, showUrl } from './redact.ts';
import type { Env } from './env.ts';

/** Creates a Cluster from flags and kubeconfig. Sends nothing yet. Throws `kubeconfig.*` and `usage.impersonation`. */
export async function connect(options: ConnectOptions, processEnv: Env): Promise<Cluster> {
  const { kuberc } = options;
  const env = kuberc ? { ...processEnv, variables: { ...processEnv.variables, KUBERC: kuberc } } : processEnv;
  const { variables } = env;
  const loaded = await loadKubeconfig({ ...options, variables });
  const { contextName, namespace, cluster, user } = choose(loaded, options);
  const redactor = createRedactor();
  const { clean } = redactor;
  const base = readServer(cluster.server);
  const server = showUrl(base);
  const closing = new AbortController();
  // Each stream adds a listener; so many look like a leak to Node, which would warn.
  setMaxListeners(0, closing.signal);
  const identify = await resolveCredentials({ cluster, user, env, redactor, closed: closing.signal });
  const proxy = chooseProxy(base, { variables, redactor, proxyUrl: cluster.proxyUrl });
  const transport = await createTransport(base, proxy, variables);
  const counts = { watches: new Set<string>(), logs: 0, others: 0 };
  const memory: ClusterMemory = { reached: false, streamingLists: 'untried' };
  const client = createClient({
    base,
    transport,
    identify,
    userAgent: `kubectl-podexit/${options.version} (node)`,
    memory,
    counts,
    env,
    closed: closing.signal,
    clean,
    requestTimeoutMs: options.requestTimeoutMs,
  });
  const extra = variables['NODE_EXTRA_CA_CERTS'];
  if (extra && trustsPublicAuthorities(cluster))
    env.log(1, `the authorities in ${extra} are trusted too (NODE_EXTRA_CA_CERTS); kubectl does not read it`);
  env.log(4, clean(`cluster ${server}, context ${contextName ?? '(none)'}, namespace ${namespace}`));
  return {
    namespace,
    contextName,
    server,
    connectionFlags: connectionFlagsOf(options),
    env,
    memory,
    ...client,
    async webSocketTo(path, query) {
      counts.others += 1;
      // A separate connection: over HTTP/2 there is no Upgrade.
      const { agent } = await createWire(base, proxy);
      const { headers, tls } = await identify();
      // Node's request also takes lists (Impersonate-Group), which the types of ws do not know.
      const options = { agent, headers: headers as Record<string, string>, ...tls };
      return { url: urlOf(base, path, query), options };
    },
    clean,
    closed: closing.signal,
    close: () => {
      closing.abort();
      transport.destroy();
      env.log(2, `${counts.watches.size} watches, ${counts.logs} logs, ${counts.others} other requests`);
    },
  };
}

/** Without an authority in the kubeconfig, Node trusts its built-in ones and those of NODE_EXTRA_CA_CERTS. */
const trustsPublicAuthorities = (cluster: ClusterEntry): boolean =>
  !cluster.certificateAuthority && !cluster.certificateAuthorityData && !cluster.insecureSkipTlsVerify;

function readServer(server: string): URL {
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (url !== undefined && (url.protocol === 'https:' || url.protocol === 'http:')) return url;
  throw new PodexitError(
    'kubeconfig.invalid',
    `the server address ${url === undefined ? 'in the kubeconfig' : showUrl(url)} is not an http or https URL`,
    'Write it like https://host:6443.',
  );
}
