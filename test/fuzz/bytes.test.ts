/** Arbitrary bytes of watches and logs through src/kube cause no crash, no hang and no unbounded memory. */
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import type { Cluster, StreamedResponse, ApiRequest } from '../../src/kube/cluster.ts';
import { followLog } from '../kube/helpers/observed.ts';
import { watchObjects } from '../kube/helpers/observed.ts';
import { PodexitError } from '../../src/errors.ts';
import { narrowToPod } from '../../scripts/convert/narrow.ts';
import { observe } from '../../src/model/observe.ts';
import type { RawObservation } from '../../src/model/observation.ts';
import { reduce } from '../../src/model/reduce.ts';
import { emptyTrace } from '../../src/model/trace.ts';
import { reportOf } from '../../src/advice/report.ts';
import { recordingNames, rowsOf } from '../helpers/recordings.ts';
import { seeded } from '../helpers/seeded.ts';
import type { Random } from './helpers/mutate.ts';
import { deep, mutate, pick } from './helpers/mutate.ts';
import { cases, firstSeed, fuzzTime } from './helpers/rounds.ts';

const start = Date.parse('2031-05-06T07:08:09Z');

/** A cluster without sockets. Each stream gets the next body, and waiting advances the clock. */
function clusterOf(bodies: Buffer[][], stop: AbortController): Cluster {
  let now = start;
  const head = (body: unknown) => ({ status: 200, headers: {}, sentAt: now, at: now, dated: [], body });
  return {
    namespace: 'shop',
    server: 'https://cluster',
    connectionFlags: '',
    memory: { reached: true, streamingLists: 'supported' },
    closed: stop.signal,
    env: {
      variables: {},
      stderr: { write: () => {} },
      stdinIsTty: false,
      platform: process.platform,
      now: () => now,
      // Half of all waits are timeouts for something that arrives: let it arrive first.
      setTimeout: (callback, ms) => {
        const timer = setImmediate(() => {
          now += ms;
          callback();
        });
        return () => clearImmediate(timer);
      },
      random: () => 0.5,
      log: () => {},
    },
    sendOnce: () => Promise.reject(new Error('not asked')),
    request: async (_: ApiRequest) => head({ kind: 'List', metadata: { resourceVersion: '1' }, items: [] }),
    stream: async (_: ApiRequest) => {
      const chunks = bodies.shift();
      if (!chunks) stop.abort();
      return head(Readable.from(chunks ?? [])) as unknown as StreamedResponse & { body: IncomingMessage };
    },
    clean: (text) => text,
    close: () => {},
  };
}

/** The maximum from one source. More would be an endless loop. */
const mostRawObservations = 5000;

async function allOf(source: AsyncIterable<RawObservation>, where: string): Promise<RawObservation[]> {
  const seen: RawObservation[] = [];
  try {
    for await (const rawObservation of source) {
      seen.push(rawObservation);
      if (seen.length > mostRawObservations) throw new Error(`${where}: it never ends`);
    }
  } catch (error) {
    if (!(error instanceof PodexitError)) throw error;
  }
  return seen;
}

function chunked(random: Random, bytes: Buffer): Buffer[] {
  const chunks: Buffer[] = [];
  for (let from = 0; from < bytes.length;) {
    const to = from + 1 + Math.floor(random() * random() * bytes.length);
    chunks.push(bytes.subarray(from, to));
    from = to;
  }
  return chunks;
}

const noise = [
  Buffer.from([0xff, 0xfe, 0x00]),
  Buffer.from([0xc3, 0x28]),
  Buffer.from('\n\n\n'),
  Buffer.from('\r\n'),
  Buffer.from('{"type":"ERROR","object":{"code":"410"}}\n'),
  Buffer.from('{"type":"ERROR","object":{"code":410}}\n'),
  Buffer.from('{"type":"BOOKMARK","object":[]}\n'),
  Buffer.from('{"type":["ADDED"],"object":1}\n'),
  Buffer.from('null\n'),
  Buffer.from(`{"type":"MODIFIED","object":${'['.repeat(5000)}\n`),
  Buffer.from(`${JSON.stringify({ type: 'MODIFIED', object: deep(500) })}\n`),
  Buffer.from('\u001b[2J\u202e'),
];

/** Changes, removes, duplicates or inserts some bytes. */
function garble(random: Random, bytes: Buffer): Buffer {
  let next = Buffer.from(bytes);
  const times = Math.floor(random() * 4);
  for (let time = 0; time < times; time += 1) {
    const at = Math.floor(random() * next.length);
    const to = Math.min(next.length, at + Math.floor(random() * 200));
    const draw = random();
    if (draw < 0.3 && next.length > 0) next[at] = Math.floor(random() * 256);
    else if (draw < 0.5) next = Buffer.concat([next.subarray(0, at), next.subarray(to)]);
    else if (draw < 0.6) next = Buffer.concat([next.subarray(0, to), next.subarray(at)]);
    else next = Buffer.concat([next.subarray(0, at), pick(random, noise), next.subarray(at)]);
  }
  return next;
}

it(
  'reads any bytes of a watch',
  async () => {
    const stories = await Promise.all(recordingNames.map(async (name) => [...narrowToPod(rowsOf(name))]));
    const count = cases(8000);
    let received = 0;
    for (let seed = firstSeed; seed < firstSeed + count; seed += 1) {
      const random = seeded(seed * 7907);
      const stop = new AbortController();
      const target = { stream: 'pod', path: '/api/v1/namespaces/shop/pods', name: 'web' } as const;
      const bodies = [0, 1].map(() => chunked(random, garble(random, watchBody(random, pick(random, stories)))));
      const seen = await allOf(watchObjects(clusterOf(bodies, stop), target, { signal: stop.signal }), `seed ${seed}`);
      received += seen.length;
      const trace = seen.reduce((so, one, index) => reduce(so, observe(one, index + 1, { logText: true })), emptyTrace);
      reportOf(trace);
    }
    process.stdout.write(`fuzzed watches: ${count} cases, ${received} rawObservations\n`);
    expect(received).toBeGreaterThan(count);
  },
  fuzzTime,
);

const initialEnd = { metadata: { resourceVersion: '2', annotations: { 'k8s.io/initial-events-end': 'true' } } };

function watchBody(random: Random, story: readonly RawObservation[]): Buffer {
  const changes = story.flatMap((one) => (one.kind === 'changed' ? [{ type: one.change, object: one.object }] : []));
  const first = [{ type: 'BOOKMARK', object: initialEnd }];
  const frames = [...(random() < 0.8 ? first : []), ...changes].slice(0, 12);
  return Buffer.from(
    frames.map((frame) => `${JSON.stringify(random() < 0.2 ? mutate(random, frame) : frame)}\n`).join(''),
  );
}

it(
  'reads any bytes of a log',
  async () => {
    const count = cases(3000);
    let received = 0;
    for (let seed = firstSeed; seed < firstSeed + count; seed += 1) {
      const random = seeded(seed * 15_485_863);
      const stop = new AbortController();
      const lines = Array.from({ length: 8 }, (_, index) => `2031-05-06T07:08:${10 + index}.5Z line ${index}\n`);
      const bodies = [0, 1].map(() => chunked(random, garble(random, Buffer.from(lines.join('')))));
      const target = { namespace: 'shop', pod: 'web', container: 'app' };
      const seen = await allOf(followLog(clusterOf(bodies, stop), target, { signal: stop.signal }), `seed ${seed}`);
      received += seen.length;
    }
    process.stdout.write(`fuzzed logs: ${count} cases, ${received} rawObservations\n`);
    expect(received).toBeGreaterThan(count);
  },
  fuzzTime,
);

it('keeps at most one line of a log of 100 MB in memory, with and without line ends', async () => {
  for (const end of ['\n', '']) {
    const stop = new AbortController();
    const piece = Buffer.from(`2031-05-06T07:08:10.5Z ${'x'.repeat(65_000)}${end}`);
    const cluster = clusterOf([], stop);
    let left = Math.ceil((100 * 2 ** 20) / piece.length);
    let opened = false;
    const body = (): Readable =>
      new Readable({
        read() {
          this.push(left-- > 0 ? piece : null);
        },
      });
    const chatty: Cluster = {
      ...cluster,
      stream: async (question) => {
        if (opened) return cluster.stream(question);
        opened = true;
        return { ...(await clusterOf([[]], stop).stream(question)), body: body() };
      },
    };
    const before = process.memoryUsage().heapUsed;
    let most = before;
    let held = 0;
    const target = { namespace: 'shop', pod: 'web', container: 'app' };
    for await (const rawObservation of followLog(chatty, target, { signal: stop.signal })) {
      if (rawObservation.kind === 'line') held = Math.max(held, (rawObservation.text ?? '').length);
      most = Math.max(most, process.memoryUsage().heapUsed);
    }
    expect(left).toBeLessThan(0);
    expect(held).toBeLessThanOrEqual(16 * 1024);
    expect(most - before).toBeLessThan(64 * 2 ** 20);
  }
});
