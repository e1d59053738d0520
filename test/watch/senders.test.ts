/** What a watch sends to others: Events on workloads, and traces. A receiver that is down holds nothing up. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { linesOf, watchStory } from './helpers/watching.ts';

describe.concurrent('--emit-events', () => {
  it.each([[['--emit-events']], [[]]])(
    'posts an Event for an exit that was not graceful only with it: %j',
    async (flags) => {
      const { posted } = await watchStory([...flags, '-o', 'ndjson'], ['killed', 'other'], async (server, printed) => {
        for (const [name, exitCode] of [
          ['killed', 137],
          ['other', 0],
        ] as const) {
          server.terminate(name);
          server.remove(name, name, exitCode);
          await printed(`"uid":"${name}"`);
        }
      });
      const event = {
        metadata: { name: 'podexit.killed', namespace: 'rollout-25' },
        involvedObject: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'checkout' },
        ...{ type: 'Warning', reason: 'PodExitFailed' },
        message: expect.stringMatching(/^killed: Exited 137: /) as string,
      };
      expect(posted.map((text) => JSON.parse(text) as object)).toMatchObject(flags.length > 0 ? [event] : []);
    },
  );

  it('says once that Events cannot be posted, and goes on', async () => {
    const story: Parameters<typeof watchStory>[2] = async (server, printed) => {
      for (const name of ['a', 'b']) {
        server.terminate(name);
        server.remove(name, name, 137);
        await Promise.all([printed(`"uid":"${name}"`), printed('some events are left out')]);
      }
    };
    const words = ['--emit-events', '-o', 'ndjson'];
    const { stderr, stdout, posted } = await watchStory(words, ['a', 'b'], story, { eventStatus: 403 });
    expect(stderr.match(/some events are left out: .*forbidden/g)).toHaveLength(1);
    expect(linesOf(stdout, 'report')).toHaveLength(2);
    expect(posted).toHaveLength(2);
  });
});

it('ends within the time of one request if the collector of traces does not answer', async () => {
  const collector = createServer(() => {}).listen(0, '127.0.0.1');
  await once(collector, 'listening');
  const { port } = collector.address() as AddressInfo;
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`, OTEL_EXPORTER_OTLP_TIMEOUT: '500' };
  const names = Array.from({ length: 12 }, (_, index) => `web-${index}`);
  const story: Parameters<typeof watchStory>[2] = async (server, printed) => {
    for (const name of names) server.terminate(name);
    for (const name of names) server.remove(name);
    await Promise.all(names.map((name) => printed(`"uid":"${name}"`)));
  };
  const { code, stderr } = await watchStory(['--otlp=always', '-o', 'ndjson'], names, story, { env });
  collector.closeAllConnections();
  collector.close();
  expect(code).toBe(0);
  expect(stderr).toMatch(/podexit: \d+ traces were not sent before the end/);
});
