import type { AssumptionName } from '../../model/assumptions.ts';
import { assumptions } from '../../model/assumptions.ts';
import type { Explanation } from './explanation.ts';

const bound = (name: AssumptionName): string =>
  `An assumption, and no measurement: ${assumptions[name]} s at most. A report lists under "assumes" those that it leaned on.`;

const wider =
  'If your clusters exceed it, an interval that leans on it may be too narrow; tell us, and it will be raised.';
const look = 'Nothing, unless an instant contradicts what you know: then look whether it names this one.';

/** What is assumed rather than proved (trace/assumptions.ts): the API shows none of it. */
export const assumptionTexts: Record<AssumptionName, Explanation> = {
  'clock-drift': {
    is: 'How much two clocks drift apart in each second.',
    known: `${bound('clock-drift')} NTP slews at 0.0005, crystals that run free at 0.0001.`,
    wrong:
      'A clock that is set in the middle of the exit steps instead: where its stamps then contradict each other the report says so under "gaps", and goes by neither alone; a small step may stay unseen.',
    advice: look,
  },
  'signal-lag': {
    is: "From the kubelet's call to the signal's delivery, with containerd.",
    known: `${bound('signal-lag')} Measured: 0.001 to 0.006 s.`,
    wrong: wider,
    advice: look,
  },
  'signal-lag-exec': {
    is: "From the kubelet's call to the signal's delivery, where the runtime starts a process for it (CRI-O, docker).",
    known: bound('signal-lag-exec'),
    wrong: wider,
    advice: look,
  },
  'signal-lag-sandboxed': {
    is: "From the kubelet's call to the signal's delivery, through the guest of a sandboxed runtime (a runtimeClass is set).",
    known: bound('signal-lag-sandboxed'),
    wrong: wider,
    advice: look,
  },
  'log-stamp-lag': {
    is: 'How long after it was written a log line is stamped by the runtime.',
    known: bound('log-stamp-lag'),
    wrong: 'A runtime that is starved of CPU stamps later, and an application that buffers its output writes later.',
    advice: look,
  },
  'kill-lag': {
    is: 'How soon after SIGKILL a process has ended.',
    known: bound('kill-lag'),
    wrong:
      'A process that waits for a disk or a device ends only when that answers: its kill was earlier than the report says.',
    advice: look,
  },
  'silent-kill': {
    is: 'An application that showed no life after its signal, and ended with 137 as its grace ran out, was killed by the kubelet.',
    known: bound('silent-kill'),
    wrong: 'One that exits with 137 of its own choice in that very second cannot be distinguished from it.',
    advice: look,
  },
  'log-end': {
    is: 'How soon after its container a log ends that ended in order, where no status will tell the end.',
    known: bound('log-end'),
    wrong: wider,
    advice: look,
  },
  'event-lag': {
    is: 'How soon after its stamp (or after the one before it) the kubelet posts an Event, or a renewal of its Lease.',
    known: `${bound('event-lag')} Dropped where an arrival contradicts it.`,
    wrong: 'A node that stands still holds them back; where nothing shows that it ran, this is not leaned on.',
    advice: look,
  },
  'delivery-lag': {
    is: 'How long after it was written a change arrives here, on a stream that is alive.',
    known: bound('delivery-lag'),
    wrong: 'An API server or a network under great load takes longer.',
    advice: look,
  },
  'kill-at-once': {
    is: 'How soon the kubelet asks for the stop signal after its acknowledgement of the deletion arrived, where no Events may be read; and that this does not fail.',
    known: `${bound('kill-at-once')} One goroutine writes the one and goes on to the other, in milliseconds; it counts only where the container ended too soon for a second try, which comes after 10 s.`,
    wrong: 'A kubelet that stands still just then, or restarts, sends the signal later.',
    advice: 'Give the Role list and watch on events: the Killing Event tells the instant.',
  },
  'server-skew': {
    is: 'How far the clocks of the API servers of one control plane are apart: another client asked before us only if the stamps say so by more than this.',
    known: `${bound('server-skew')} NTP keeps them to milliseconds.`,
    wrong:
      'Servers that are further apart may make our own DELETE look like one that came too late, and intervals that go by their stamps miss by as much as they differ.',
    advice: 'Keep the clocks of the control plane in step (NTP).',
  },
};
