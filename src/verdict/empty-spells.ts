/**
 * How long a Service of the pod had no ready endpoint at all, having had one before. By arrivals on one stream; where the stream
 * was late, by the server's stamps.
 */
import { deliverableSince } from '../infer/arrival.ts';
import type { PodExit } from '../infer/context.ts';
import type { PodNetwork } from '../infer/pod-network.ts';
import type { Fact, SliceState, Trace } from '../model/trace.ts';

export interface EmptySpell {
  readonly service: string;
  readonly ms: number;
  /** It had not ended when the trace did. */
  readonly open: boolean;
  readonly evidence: number[];
}

export function emptySpells(trace: Trace, { deletion, network }: PodExit): EmptySpell[] {
  const own = [...trace.slices.values()].filter(({ states }) => states.some((state) => state.value.own));
  const services = new Set(own.flatMap((facts) => facts.service ?? []));
  const since = deletion.accepted.client.lo;
  return [...services].flatMap((service) => {
    const spells = spellsOf(trace, network, service)
      .filter(({ to }) => to > since)
      .map(({ from, to, open, evidence }) => ({ service, ms: to - from, open, evidence }))
      .filter(({ ms, open }) => open || ms >= shortestSpell);
    return spells.sort((a, b) => b.ms - a.ms).slice(0, 1);
  });
}

/** ms. Slices of one sync are written, and arrive, one after another: what was over sooner may be no more than that. */
const shortestSpell = 100;

interface Spell {
  from: number;
  to: number;
  open: boolean;
  evidence: number[];
}

function spellsOf(trace: Trace, network: PodNetwork, service: string): Spell[] {
  const slices = [...trace.slices].filter(([, facts]) => facts.service === service);
  const changes = slices
    .flatMap(([name, facts]) => facts.states.map((state) => ({ name, state })))
    .sort((a, b) => a.state.seq - b.state.seq);
  const now = new Map<string, Fact<SliceState>>();
  const spells: Spell[] = [];
  let had = false;
  for (const { name, state } of changes) {
    now.set(name, state);
    const isDeleted = state.value.deleted === true;
    const ready = [...now.values()].reduce((sum, one) => sum + readyIn(one.value), 0);
    const open = spells.at(-1)?.open === true ? spells.at(-1) : undefined;
    if ((ready > 0 || isDeleted) && open)
      Object.assign(open, {
        to: earliest(trace, network, state),
        open: false,
        evidence: [...open.evidence, state.seq],
      });
    if (ready === 0 && had && !open && !isDeleted)
      spells.push({ from: latest(network, state), to: watchedUntil(trace), open: true, evidence: [state.seq] });
    had = ready > 0 || (had && !isDeleted);
  }
  return spells;
}

/** What lasts is claimed only for as long as the stream was watched. */
const watchedUntil = ({ lastReceivedAt, gaps }: Trace): number =>
  Math.min(
    lastReceivedAt,
    ...gaps.flatMap(({ value }) => (value.stream === 'endpointslices' && value.to === undefined ? value.from : [])),
  );

/** The moment of a change as late as it can have been, so that a spell is never said to be longer than it was. */
const latest = (network: PodNetwork, { value, at }: Fact<SliceState>): number =>
  Math.min(at, value.written ? network.toClient('api', value.written, at).hi : at);

/** As early as it can have been: what comes on a stream that is alive came when it arrived. */
function earliest(trace: Trace, network: PodNetwork, { value, at }: Fact<SliceState>): number {
  const deliverable = deliverableSince(trace, 'endpointslices', at);
  return deliverable === at
    ? at
    : Math.max(deliverable, value.written ? network.toClient('api', value.written, at).lo : deliverable);
}

const readyIn = (state: SliceState): number => state.otherReady + (state.own?.ready ? 1 : 0);
