import { connect } from 'node:http2';
import { request } from 'node:https';
import { describe, expect, it } from 'vitest';
import { hasOpenssl, selfSigned } from '../helpers/self-signed.ts';
import { playing } from './helpers/playing.ts';
import { settle } from './helpers/virtual-clock.ts';

describe.skipIf(!hasOpenssl)('over TLS (skipped without openssl)', () => {
  it('serves HTTP/1.1 with its own certificate, which is in the kubeconfig', async () => {
    const tls = selfSigned();
    const { server, pods } = await playing('exit-143', { tls });
    const config = JSON.parse(server.kubeconfig()) as { clusters: { cluster: Record<string, string> }[] };
    const ca = Buffer.from(config.clusters[0]!.cluster['certificate-authority-data']!, 'base64');
    const status = await new Promise((resolve, reject) => {
      const sent = request(pods, { ca, agent: false }, (response) => resolve(response.resume().statusCode));
      sent.on('error', reject).end();
    });
    expect(status).toBe(200);
  });

  it('serves HTTP/2 on request, with all streams on one connection, and can break one stream alone', async () => {
    const tls = { ...selfSigned(), http2: true };
    const faults = [{ kind: 'drop', resource: 'pods', verb: 'watch', afterMs: 1_000 } as const];
    const { server, clock } = await playing('exit-143', { tls, faults });
    const session = connect(server.url, { ca: tls.cert });
    const watch = (resource: string) => {
      const stream = session.request({ ':path': `/api/v1/namespaces/${server.namespace}/${resource}?watch=1` });
      const seen = { text: '', closed: false };
      stream.setEncoding('utf8').on('data', (chunk: string) => (seen.text += chunk));
      stream.on('close', () => (seen.closed = true)).on('error', () => {});
      return seen;
    };
    const [pods, events] = [watch('pods'), watch('events')];
    const path = `/api/v1/namespaces/${server.namespace}/pods/${server.pod}`;
    await clock.advance(100);
    session.request({ ':path': path, ':method': 'DELETE' }).resume().end();
    await clock.advance(2_000);
    await settle();
    expect(pods.text).toContain('"deletionGracePeriodSeconds":10');
    expect([pods.closed, events.closed]).toEqual([true, false]);
    expect(events.text).toContain('"reason":"Killing"');
    expect(new Set(server.requests.map(({ nthOnConnection }) => nthOnConnection))).toEqual(new Set([1, 2, 3]));
    session.destroy();
  });
});
