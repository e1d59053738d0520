import type { Sighting } from '../model/observation.ts';
import type { Cluster, Flow } from './cluster.ts';
import { takeLines } from './lines.ts';
import type { Told } from './log-limit.ts';
import { createLogLimit } from './log-limit.ts';
import { isLater, readLogLine } from './log-line.ts';
import type { Alarm } from './surroundings.ts';
import { setAlarm } from './surroundings.ts';

/** What has been read of a log, over all its connections. */
export interface Reading {
  /** The stamp of the last line that was read, told or not. */
  last?: string;
  told: number;
  /** It flowed at least once. */
  opened: boolean;
}

/** ms between two told lines of a container. */
const interval = 50;
/** A longer line is cut; the kubelet itself splits at 16 KiB. */
const longestLine = 16 * 1024;

/** All lines until the end; true where the server ended it in order. */
export async function* tellLines(
  cluster: Cluster,
  container: string,
  flow: Flow,
  reading: Reading,
  { signal, matters = () => false }: { signal: AbortSignal; matters?: (text: string) => boolean },
): AsyncGenerator<Sighting, boolean> {
  const { surroundings } = cluster;
  const limit = createLogLimit(interval, matters);
  const sighting = (told: Told, at: number): Sighting => ({ kind: 'line', at, container, ...told });
  const lines = takeLines(flow.body, { mostBytes: longestLine, onLong: 'cut', now: () => surroundings.now() });
  const seen = reading.last;
  let alarm: Alarm | undefined;
  try {
    for (;;) {
      let event = lines.left();
      if (event === undefined) {
        const due = limit.due();
        // One alarm for all the lines of an interval: a timer for each would be most of the work of a chatty log.
        if (due !== undefined && alarm?.at !== due) {
          alarm?.stop();
          alarm = setAlarm(surroundings, due);
        }
        await (due === undefined || alarm === undefined ? lines.more() : Promise.race([lines.more(), alarm.rung]));
        event = lines.left();
      }
      if (signal.aborted) return false;
      const now = event?.kind === 'line' ? event.at : surroundings.now();
      if (event === undefined || event.kind !== 'line') {
        const held = limit.release(now);
        if (held !== undefined) yield sighting(held, now);
        if (event !== undefined) return event.kind === 'end' && event.clean;
        continue;
      }
      const line = readLogLine(event.bytes);
      if (line === undefined || (seen !== undefined && !isLater(line.time, seen))) continue;
      reading.last = line.time;
      reading.told++;
      const told = limit.offer(line, now);
      if (told !== undefined) yield sighting(told, now);
    }
  } finally {
    alarm?.stop();
    flow.body.destroy();
  }
}
