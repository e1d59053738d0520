/** `bench:watch --faults`: what goes wrong between the cluster and its watchers, one thing after the other, all the time. */
import type { Playback } from '../../src/demo/cluster.ts';
import type { KubeObject } from '../../src/demo/data/kube-object.ts';
import type { Stream } from '../../src/demo/http/exchange.ts';
import { failure, HttpError } from '../../src/demo/data/status.ts';
import type { Interference } from '../../src/demo/loopback.ts';
import { expireHistory } from '../../test/sim/faults/at-moment.ts';
import { interceptStreams } from '../../test/sim/faults/on-line.ts';

/** ms between two faults. */
const everyMs = 7000;

/** Requests that are refused in a row. */
const mostRefused = 10;

/** `shown` is called with the uid of each pod that goes out in a list or in a whole line; that may be lost on its way. */
export function watchFaults(cluster: Playback, shown: (uid: string) => void): Interference {
  const streams = new Set<Stream>();
  let refused = { code: 500, left: 0 };
  let isHalving = false;
  const cut = (): void => streams.forEach(({ exchange }) => exchange.cut());
  const refuse = (code: number): void => {
    refused = { code, left: mostRefused };
    cut();
  };
  const faults: (() => void)[] = [
    cut,
    () => {
      expireHistory(cluster);
      cut();
    },
    () => refuse(429),
    () => refuse(500),
    () => void (isHalving = true),
  ];
  const opened = (stream: Stream): void => {
    streams.add(stream);
    stream.onClose(() => streams.delete(stream));
  };
  const outgoing = ({ exchange }: Stream, line: string, send: (line: string) => void): void => {
    if (exchange.request.kind?.plural !== 'pods') return send(line);
    if (isHalving) {
      isHalving = false;
      return void exchange.response.write(line.slice(0, line.length / 2), exchange.cut);
    }
    shown(/"uid":"(uid-\d+)"/.exec(line)?.[1] ?? '');
    send(line);
  };
  let timer: NodeJS.Timeout | undefined;
  return {
    async around(call, serve) {
      const { json, request } = call;
      interceptStreams(call, opened, outgoing);
      if (request.kind?.plural === 'pods') {
        call.json = (status, body, headers) => {
          (body as { items?: KubeObject[] }).items?.forEach(({ metadata }) => shown(metadata.uid ?? ''));
          json(status, body, headers);
        };
      }
      if (refused.left === 0) return serve();
      refused.left -= 1;
      const { code } = refused;
      throw new HttpError(failure(code, '', `refused with ${code}`), code === 429 ? { 'Retry-After': '1' } : {});
    },
    start() {
      let done = 0;
      timer = setInterval(() => faults[done++ % faults.length]?.(), everyMs);
    },
    stop: () => clearInterval(timer),
  };
}
