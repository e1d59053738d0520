/** What a watch sends to others: Events on workloads, and traces. A receiver that is down holds nothing up. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { startChangeable } from './helpers/changeable.ts';
import { linesOf, watchUntil } from './helpers/watching.ts';

/** Watches while these pods are deleted and end with these exit codes, until each is reported. */
async function watching(
  exitCodes: Record<string, number>,
  words: string[],
  options: Parameters<typeof watchUntil>[2],
  { eventStatus = 201, betweenMs = 0 } = {},
) {
  const server = await startChangeable({ eventStatus });
  const names = Object.keys(exitCodes);
  for (const name of names) server.server.create(name);
  let hasBegun = false;
  const play = async (): Promise<void> => {
    for (const name of names) server.server.terminate(name, name, 1);
    await setTimeout(2500);
    for (const name of names) {
      server.server.remove(name, name, exitCodes[name]);
      await setTimeout(betweenMs);
    }
  };
  const printed = await watchUntil(
    [...server.flags, ...words, '-o', 'ndjson'],
    (text) => linesOf(text, 'report').length === names.length,
    {
      ...options,
      onStderr(text) {
        if (!hasBegun && text.includes('watching')) void setTimeout(500).then(play);
        hasBegun ||= text.includes('watching');
      },
    },
  );
  await server.close();
  return { ...printed, posted: server.server.posted };
}

describe('--emit-events', () => {
  it('posts an Event on the workload for each exit that was not graceful', async () => {
    const { posted } = await watching({ killed: 137, other: 0 }, ['--emit-events'], {});
    expect(posted.map((text) => JSON.parse(text) as object)).toEqual([
      expect.objectContaining({
        metadata: { name: 'podexit.killed', namespace: 'rollout-25' },
        involvedObject: expect.objectContaining({
          apiVersion: 'apps/v1',
          kind: 'Deployment',
          name: 'checkout',
        }) as object,
        type: 'Warning',
        reason: 'PodExitFailed',
        message: expect.stringMatching(/^killed: Exited 137: /) as string,
      }),
    ]);
  });

  it('posts nothing without the flag', async () => {
    expect((await watching({ killed: 137 }, [], {})).posted).toEqual([]);
  });

  it('says once that Events cannot be posted, and goes on', async () => {
    const { stderr, stdout } = await watching(
      { a: 137, b: 137, c: 137 },
      ['--emit-events'],
      {},
      { eventStatus: 403, betweenMs: 2000 },
    );
    expect(stderr.match(/some events are left out: .*forbidden/g)).toHaveLength(1);
    expect(linesOf(stdout, 'report')).toHaveLength(3);
  });
});

it('ends within the time of one request if the collector of traces does not answer', async () => {
  const collector = createServer(() => {}).listen(0, '127.0.0.1');
  await once(collector, 'listening');
  const { port } = collector.address() as AddressInfo;
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`, OTEL_EXPORTER_OTLP_TIMEOUT: '500' };
  const exitCodes = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`web-${index}`, 0]));
  const { code, stderr } = await watching(exitCodes, ['--otlp=always'], { env });
  collector.closeAllConnections();
  collector.close();
  expect(code).toBe(0);
  expect(stderr).toMatch(/podexit: \d+ traces were not sent before the end/);
});
