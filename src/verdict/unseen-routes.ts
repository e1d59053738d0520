/** Who may have routed to the pod without being seen: no drain lead is proven by what was not watched. Pure. */
import type { EndpointExit } from '../infer/endpoints.ts';
import type { Service } from '../model/kube.ts';
import type { StreamName } from '../model/observation.ts';
import type { Gate } from '../model/report.ts';
import type { Trace } from '../model/trace.ts';
import type { RuleInput } from './rule-input.ts';

/** No endpoint seen is proof only where endpoints could be seen. */
export function withoutRoutes({ trace, exit }: RuleInput): Omit<Gate, 'name'> {
  const blind =
    // Before its own DELETE a run waits for them, or states a gap.
    (!trace.servicesKnown && trace.began?.value.mode === 'attach') ||
    trace.refused.some(({ value }) => lanes.has(value.stream)) ||
    trace.gaps.some(({ value }) => lanes.has(value.stream) && value.to === undefined);
  if (blind && exit.endpoints.length === 0) return { passed: false, message: 'endpoints could not be watched' };
  return { passed: true, message: 'no Service routes to this pod by its readiness' };
}

const lanes: ReadonlySet<StreamName> = new Set<StreamName>(['services', 'endpointslices']);

/**
 * Why it is not known who routed to the pod when its deletion was accepted. What was seen of endpoints afterwards is then
 * no more than what was left of them; where every Service that may follow readiness had still to unroute it, nothing is
 * missing.
 */
export function unseenRoutes(input: RuleInput): string | undefined {
  const { trace, exit } = input;
  const isLate = trace.deletion?.underWay === true;
  if ((!isLate && !wasAway(input)) || !mayHideRoutes(trace, exit.endpoints)) return undefined;
  return isLate ? tooLate : away;
}

/** The slices were not in sync, or could not be read, when the deletion was accepted. */
function wasAway({ trace, exit }: RuleInput): boolean {
  const { lo, hi } = exit.deletion.accepted.client;
  return (
    (trace.slicesSince ?? Infinity) > lo ||
    trace.refused.some(({ value, at }) => value.stream === 'endpointslices' && at <= hi) ||
    trace.gaps.some(
      ({ value: { stream, from, to = Infinity } }) => stream === 'endpointslices' && from <= hi && to >= lo,
    )
  );
}

/**
 * A Service that takes pods as they are is no matter of readiness, whenever it was seen. One without a selector may be
 * anybody's (`kubernetes` in the namespace default): it counts where nothing at all was seen.
 */
function mayHideRoutes(trace: Trace, endpoints: readonly EndpointExit[]): boolean {
  const isMissing = ({ metadata, spec }: Service): boolean =>
    spec.publishNotReadyAddresses !== true &&
    (endpoints.length === 0 || Object.keys(spec.selector ?? {}).length > 0) &&
    !endpoints.some(({ service }) => service === metadata.name);
  return endpoints.some((one) => !one.staysReady && !one.wasReady) || [...trace.services.values()].some(isMissing);
}

const away = 'endpoints were not being watched when the pod was deleted';

const tooLate = 'attached too late: the pod was already terminating';
