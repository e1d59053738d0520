/** `bench:watch --faults`: what goes wrong between the cluster and its watchers, one thing after the other, all the time. */
import type { Playback } from '../../src/demo/cluster.ts';
import type { Stream } from '../../src/demo/http/exchange.ts';
import { failure, HttpError } from '../../src/demo/data/status.ts';
import type { Interference } from '../../src/demo/loopback.ts';
import { expireHistory } from '../../test/sim/faults/at-moment.ts';

/** ms between two faults. */
const everyMs = 7000;

/** Requests that are refused in a row. */
const mostRefused = 10;

export function watchFaults(cluster: Playback): Interference {
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
  let timer: NodeJS.Timeout | undefined;
  return {
    async around(_, serve) {
      if (refused.left === 0) return serve();
      refused.left -= 1;
      const { code } = refused;
      throw new HttpError(failure(code, '', `refused with ${code}`), code === 429 ? { 'Retry-After': '1' } : {});
    },
    opened(stream) {
      streams.add(stream);
      stream.onClose(() => streams.delete(stream));
    },
    outgoing({ exchange }, line, send) {
      if (!isHalving || exchange.request.kind?.plural !== 'pods') return send(line);
      isHalving = false;
      exchange.raw(line.slice(0, line.length / 2), exchange.cut);
    },
    start() {
      let done = 0;
      timer = setInterval(() => faults[done++ % faults.length]?.(), everyMs);
    },
    stop: () => clearInterval(timer),
  };
}
