import type { Truth } from '../scenario.ts';
import { formatStamp, parseStamp } from './nanoseconds.ts';
import { toRunTime, type Moments } from './play-time.ts';
import type { Story } from './story.ts';

const instants = ['stop_requested', 'stop_signal_sent', 'sigkill_sent', 'exited'] as const;

/** The containers' fates with their instants moved to this run, on the client's clock. */
export function truthsInRunTime(story: Story, moments: Moments): Truth[] {
  return story.truths.map((truth) => ({ ...truth, ...Object.fromEntries(instants.flatMap(moved(truth))) }));

  function moved(truth: Truth): (name: (typeof instants)[number]) => [string, string][] {
    return (name) => {
      const stamp = parseStamp(truth[name] ?? '');
      return stamp === undefined ? [] : [[name, formatStamp(toRunTime(story, moments, stamp.at), 9)]];
    };
  }
}
