/** A separate module: these libraries are loaded only if a proxy is used. */
import type { Agent, ClientRequest } from 'node:http';
// @ts-expect-error -- it has no types
import debug from 'debug';
import { HttpProxyAgent } from 'http-proxy-agent';
import { HttpsProxyAgent } from 'https-proxy-agent';
import { SocksProxyAgent } from 'socks-proxy-agent';

/**
 * With DEBUG in the environment the proxy libraries would print the proxy's URL to stderr, with its password. Disabled
 * here, and not in the bundler's settings, so that it also holds when run from source. The variable itself stays, since
 * credential plugins inherit it.
 */
(debug as { log: unknown }).log = () => {};

/** The agent for requests to an http or https server through `proxy` (http, https or socks5h). */
export function proxyAgent(proxy: URL, isSecure: boolean, options: { keepAlive: boolean }): Agent {
  if (proxy.protocol === 'socks5h:') return new SocksProxyAgent(proxy, options);
  // For an https proxy's own certificate: without it NODE_TLS_REJECT_UNAUTHORIZED=0 would decide.
  const verified = { ...options, rejectUnauthorized: true };
  if (!isSecure) return new HttpProxyAgent(proxy, verified);
  // Without a tunnel the agent would pass the proxy's answer on as the API server's: its 404 as "there is no such pod".
  return new HttpsProxyAgent(proxy, verified).on('proxyConnect', ({ statusCode }, request: ClientRequest) => {
    if (statusCode === 200) return;
    const why = statusCode === 407 ? 'asks for credentials' : 'refuses the connection to the server';
    request.destroy(Object.assign(new Error(`the proxy ${why} (${statusCode})`), { code: 'EPROXY' }));
  });
}
