import http from 'node:http';
import net, { type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { getObject } from '../../src/kube/get.ts';
import { proxyFor } from '../../src/kube/http/transport.ts';
import { casesIn } from '../helpers/case-file.ts';
import { connected, json, listen } from './helpers/api.ts';
import { testEnv } from './helpers/env.ts';
import { serveTls } from './helpers/certificates.ts';

const proxies = casesIn<{ noProxy: string; proxy?: string }>(new URL('proxy.yaml', import.meta.url), [
  'noProxy',
  'proxy',
]);

it.each(proxies)('%s', (about, { noProxy, proxy }) => {
  const server = new URL(about.split(' ')[0] ?? '');
  const [https, http] = ['http://proxy:3128', 'http://plain:3128'];
  expect(proxyFor(server, { HTTPS_PROXY: https, HTTP_PROXY: http, NO_PROXY: noProxy })).toBe(proxy);
  expect(proxyFor(server, { https_proxy: https, http_proxy: http, no_proxy: noProxy })).toBe(proxy);
});

/** Tunnels CONNECT to any address, and records it. */
async function httpProxy() {
  const tunnels: { target: string; authorization: string | undefined }[] = [];
  const server = http.createServer((_, response) => response.writeHead(500).end());
  server.on('connect', (request, socket: Socket) => {
    tunnels.push({ target: request.url ?? '', authorization: request.headers['proxy-authorization'] });
    const [host, port] = (request.url ?? '').split(':');
    const onward = net.connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      onward.pipe(socket).pipe(onward);
    });
    onward.on('error', () => socket.destroy());
    socket.on('error', () => onward.destroy());
  });
  return { tunnels, url: `http://${await listen(server)}` };
}

/** A SOCKS5 proxy without authentication that records names (RFC 1928 §4, ATYP 3). */
async function socksProxy() {
  const names: string[] = [];
  const server = net.createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.write(Buffer.from([5, 0]));
      socket.once('data', (request: Buffer) => {
        const isName = request[3] === 3;
        const length = isName ? (request[4] ?? 0) : 4;
        const from = isName ? 5 : 4;
        const host = isName
          ? request.toString('latin1', from, from + length)
          : [...request.subarray(from, from + 4)].join('.');
        names.push(host);
        const onward = net.connect(request.readUInt16BE(from + length), '127.0.0.1', () => {
          socket.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
          onward.pipe(socket).pipe(onward);
        });
        onward.on('error', () => socket.destroy());
      });
    });
  });
  return { names, url: `socks5://${await listen(server)}` };
}

describe('a request through a proxy', () => {
  const ok = async () => await serveTls((_, response) => json(response, 200, {}));

  it('is tunnelled through proxy-url even to localhost, with the credentials of the proxy', async () => {
    const api = await ok();
    const proxy = await httpProxy();
    const proxyUrl = proxy.url.replace('http://', 'http://user:proxy-secret@');
    const cluster = await connected(api, { cluster: { 'proxy-url': proxyUrl } });
    expect((await getObject(cluster, '/x')).status).toBe(200);
    expect((await getObject(cluster, '/y')).status).toBe(200);
    const authorization = `Basic ${Buffer.from('user:proxy-secret').toString('base64')}`;
    expect(proxy.tunnels).toEqual([{ target: new URL(api.url).host, authorization }]);
  });

  it('is tunnelled through --proxy-url (kubectl 1.37, kubernetes#139862) instead of the proxy of the kubeconfig', async () => {
    const api = await ok();
    const proxy = await httpProxy();
    const own = { 'proxy-url': 'http://127.0.0.1:1' };
    const cluster = await connected(api, { cluster: own, flags: { proxyUrl: proxy.url } });
    expect((await getObject(cluster, '/x')).status).toBe(200);
    expect(proxy.tunnels).toMatchObject([{ target: new URL(api.url).host }]);
  });

  it('lets a socks5 proxy resolve names', async () => {
    const api = await ok();
    const proxy = await socksProxy();
    const elsewhere = { ...api, url: api.url.replace('127.0.0.1', 'api.internal') };
    const cluster = await connected(elsewhere, { cluster: { 'proxy-url': proxy.url, 'tls-server-name': 'localhost' } });
    expect((await getObject(cluster, '/x')).status).toBe(200);
    expect(proxy.names).toEqual(['api.internal']);
  });

  it('uses the proxy of the environment', async () => {
    const proxy = await httpProxy();
    const env = testEnv({ variables: { HTTPS_PROXY: proxy.url } });
    await getObject(await connected(await ok(), { env }), '/x');
    expect(proxy.tunnels).toEqual([]);
    const far = await connected({ url: 'https://api.invalid:6443' }, { env });
    await expect(getObject(far, '/x')).rejects.toMatchObject({ code: 'server.unreachable' });
    expect(proxy.tunnels).toMatchObject([{ target: 'api.invalid:6443' }]);
  });

  it.each([
    ['ftp://user:secret@127.0.0.1:1', ' is not an http, https or socks5 URL'],
    ['http://user:secret%zz@127.0.0.1:1', ' has a "%" that'],
    ['socks5://us%er:secret@127.0.0.1:1', ' has a "%" that'],
  ])('is refused for the proxy %s; the error names the field and no secret', async (proxy, why) => {
    const connecting = connected({ url: 'https://host' }, { cluster: { 'proxy-url': proxy } });
    const error = (await connecting.catch((thrown: unknown) => thrown)) as Error;
    expect(error).toMatchObject({ code: 'kubeconfig.invalid' });
    expect(error.message).toContain(`127.0.0.1:1 (proxy-url in the kubeconfig)${why}`);
    expect(error.message).not.toContain('secret');
  });

  it('names the variable if the address is from the environment', async () => {
    const env = testEnv({ variables: { HTTPS_PROXY: 'http://user:secret%zz@127.0.0.1:1' } });
    await expect(connected({ url: 'https://host' }, { env })).rejects.toMatchObject({
      code: 'kubeconfig.invalid',
      hint: expect.stringContaining('HTTPS_PROXY') as string,
    });
  });

  it.each([
    [407, 'the proxy asks for credentials (407)'],
    [404, 'the proxy refuses the connection to the server (404)'],
  ])('fails as unreachable if the proxy answers %i in place of the server', async (status, why) => {
    const server = http.createServer();
    server.on('connect', (_, socket: Socket) => socket.end(`HTTP/1.1 ${status} No\r\ncontent-length: 0\r\n\r\n`));
    const cluster = await connected(
      { url: 'https://api.invalid' },
      { cluster: { 'proxy-url': `http://${await listen(server)}` } },
    );
    await expect(getObject(cluster, '/x')).rejects.toMatchObject({
      code: 'server.unreachable',
      message: expect.stringContaining(why) as string,
    });
  });
});
