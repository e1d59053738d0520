import type { Agent } from 'node:http';
import http from 'node:http';
import https from 'node:https';
import { PodexitError } from '../../errors.ts';
import type { Redactor } from '../redact.ts';
import { showUrl } from '../redact.ts';
import { proxyFor } from './proxy-rules.ts';

export interface AgentOptions {
  base: URL;
  /** The cluster's own; it goes before everything in the environment. */
  proxyUrl?: string;
  env: Readonly<Record<string, string | undefined>>;
  redactor: Redactor;
}

/** TCP keep-alive: finds a peer that vanished without a word, below what a silent watch can tell. */
const keepAlive = { keepAlive: true, keepAliveMsecs: 15_000, scheduling: 'lifo' as const };

/** The one agent of a run, directly or through the proxy that kubectl would use. */
export async function createAgent({ base, proxyUrl, env, redactor }: AgentOptions): Promise<Agent> {
  const proxy = proxyUrl ?? proxyFor(base, env);
  if (proxy === undefined) return base.protocol === 'https:' ? new https.Agent(keepAlive) : new http.Agent(keepAlive);
  const url = readProxy(proxy);
  redactor.hide(decodeURIComponent(url.password));
  const { ProxyAgent } = await import('./proxy-agent.ts');
  // Over http the proxy is told the whole URL of each request, which a connection that is used again would not be.
  const options = base.protocol === 'https:' ? keepAlive : { keepAlive: false };
  return new ProxyAgent({ ...options, getProxyForUrl: () => url.href });
}

const schemes = new Set(['http:', 'https:', 'socks5:', 'socks5h:']);

function readProxy(proxy: string): URL {
  const text = /^\w+:\/\//.test(proxy) ? proxy : `http://${proxy}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !schemes.has(url.protocol)) {
    throw new PodexitError(
      'kubeconfig.invalid',
      `the proxy address ${url === undefined ? '' : `${showUrl(url)} `}is no http, https or socks5 URL`,
      'Correct proxy-url in the kubeconfig, or HTTPS_PROXY.',
    );
  }
  // Go's socks5 leaves names to the proxy to resolve; in Node that is spelt socks5h.
  if (url.protocol === 'socks5:') return new URL(text.replace(/^socks5:/, 'socks5h:'));
  return url;
}
