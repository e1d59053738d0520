/**
 * Gates for pipelines: limits on one exit, each a named check of the report. Pure.
 *
 * A gate passes only where the evidence proves that its limit was kept. Where the interval of what was measured
 * reaches beyond the limit the gate fails and says that it is a matter of proof: a gate that lets the unknown through
 * guards nothing.
 */
import { logStampLagMs } from '../model/assumptions.ts';
import type { ContainerExit } from '../infer/container.ts';
import type { EndpointExit } from '../infer/endpoints.ts';
import { unroutedBefore } from '../infer/endpoints.ts';
import type { Estimate } from '../infer/estimate.ts';
import { between, crossed, onClient, onNode } from '../infer/estimate.ts';
import type { Finding, FindingCode, Gate } from '../model/report.ts';
import { findingCodes } from '../model/report.ts';
import type { Span } from '../model/span.ts';
import { atLeast, widthOf } from '../model/span.ts';
import type { Trace } from '../model/trace.ts';
import { isSignalFirm } from '../infer/view/told.ts';
import type { GateRule } from './judge.ts';
import type { Scene } from './scene.ts';
import { longestGrace, mainsOf, ranOf, shortestGrace } from './scene.ts';
import type { MaxLost } from './max-lost.ts';
import { lostWithin } from './max-lost.ts';
import { unseenRoutes, withoutRoutes } from './unseen-routes.ts';
import { percent, seconds } from './words.ts';

export type GateSpec =
  /** From the request (or the acceptance, where it was not ours) until the object is gone. */
  | { kind: 'max-duration'; ms: number }
  /** From the kubelet's start until a container's exit, as a ratio to the effective grace; 1 is all of it. */
  | { kind: 'max-grace-used'; share: number }
  /** From the endpoint's unrouting until the stop signal. */
  | { kind: 'min-drain-lead'; ms: number }
  | MaxLost
  | { kind: 'fail-on'; code: FindingCode };

/** What `fail-on` can name. */
export const gateCodes: readonly FindingCode[] = findingCodes;

/** The rule of one limit, for a Policy. */
export function gateRule(spec: GateSpec): GateRule {
  return (scene, _outcome, findings) => {
    if (spec.kind === 'fail-on') return withoutFinding(spec.code, findings);
    if (!scene)
      return { name: spec.kind, passed: false, message: 'no deletion was seen, so there was nothing to measure' };
    if (spec.kind === 'max-lost') return lostWithin(scene.trace, spec);
    if (spec.kind === 'max-duration') return duration(scene, spec.ms);
    if (spec.kind === 'max-grace-used') return graceUsed(scene, spec.share);
    return drainLead(scene, spec.ms);
  };
}

function withoutFinding(code: FindingCode, findings: readonly Finding[]): Gate {
  const found = findings.filter((finding) => finding.code === code);
  const name = `fail-on ${code}`;
  if (found.length === 0) return { name, passed: true, message: `no finding ${code}` };
  return { name, passed: false, message: found.map(({ message }) => message).join('; ') };
}

function duration({ trace, exit }: Scene, limit: number): Gate {
  const { ours, accepted } = exit.deletion;
  const start = ours ? onClient({ lo: ours.sent.at, hi: ours.sent.at + 1 }, []) : accepted;
  const end = exit.removal.removed;
  const took = between(start, end ?? since(trace));
  return {
    name: 'max-duration',
    ...atMost(took, limit, {
      ...time,
      what: end ? 'the exit took' : 'the exit is not over after',
    }),
  };
}

/** The container that used most of it; a sidecar shares the grace, so all that passed before its turn counts. */
function graceUsed(scene: Scene, limit: number): Gate {
  const name = 'max-grace-used';
  const used = ranOf(scene).map((container) => ({ container, span: usedBy(scene, container) }));
  const [most] = used.sort((a, b) => b.span.hi - a.span.hi || b.span.lo - a.span.lo);
  if (!most) return { name, passed: true, message: 'no container was running, so none of the grace was used' };
  const share = { lo: most.span.lo / longestGrace(scene), hi: most.span.hi / shortestGrace(scene) };
  return {
    name,
    ...atMost(share, limit, {
      ...ratio,
      what: `${most.container.spec.name} used`,
      of: ' of the grace',
    }),
  };
}

function usedBy(scene: Scene, container: ContainerExit): Span {
  const { stopping, hook, signal } = container;
  const known = stopping ?? hook?.start ?? signal;
  const { accepted } = scene.exit.deletion;
  const end = endOf(scene, container);
  const longest = between(accepted, end).hi;
  if (!known) return { lo: 0, hi: longest };
  const span = between(known, end);
  return { lo: span.lo, hi: stopping ? span.hi : longest };
}

/**
 * Where nothing tells its end for certain: not before the last sign that it ran, and not after the status that ends the pod.
 * That the object is gone proves no end (SIGNALS.md §2 "Force"), nor does a status prove that it ran on ("No earlier status").
 */
function endOf({ exit }: Scene, { exit: ended, facts: { log } }: ContainerExit): Estimate {
  if (ended && !ended.provisional) return ended.at;
  const spoke = log.lastLine && crossed(onNode(atLeast(log.lastLine.value - logStampLagMs), []), exit.kubelet.clock);
  const lo = Math.max(ended?.at.client.lo ?? -Infinity, spoke?.client.lo ?? -Infinity);
  return onClient({ lo, hi: exit.removal.done?.client.hi ?? Infinity }, []);
}

/** The least lead of all pairs of a route that follows readiness and a container that is no sidecar. */
function drainLead(scene: Scene, limit: number): Gate {
  const name = 'min-drain-lead';
  const { trace } = scene;
  const unseen = unseenRoutes(scene);
  if (unseen !== undefined) return { name, passed: false, message: unseen };
  const routes = routesOf(scene);
  if (routes.length === 0) return { name, ...withoutRoutes(scene) };
  const leads = routes.flatMap((route) => mainsOf(scene).flatMap((container) => leadOf(trace, route, container)));
  const [least] = leads.sort((a, b) => a.span.lo - b.span.lo || a.span.hi - b.span.hi);
  if (!least) return { name, passed: true, message: 'no container was running, so no stop signal was sent' };
  return { name, ...leadAtLeast(least, limit) };
}

type Route = Pick<EndpointExit, 'slice' | 'service'> & { unrouted?: Estimate };

/** Those that the deletion unrouted, and those that something else had unrouted before, however shortly. */
const routesOf = ({ trace, exit }: Scene): Route[] => [
  ...exit.endpoints.filter((one) => one.wasReady && !one.staysReady),
  ...unroutedBefore(trace, exit.deletion, exit.endpoints).filter(
    ({ service }) => trace.services.get(service ?? '')?.spec.publishNotReadyAddresses !== true,
  ),
];

interface Lead {
  /** ms; negative: the signal came first. Infinite below: not known. */
  span: Span;
  route: string;
  container: string;
}

function leadOf(trace: Trace, endpoint: Route, container: ContainerExit): Lead[] {
  const { signal, spec } = container;
  const names = { route: endpoint.service ?? endpoint.slice, container: spec.name };
  if (!signal || !isSignalFirm(trace, container)) return [{ span: { lo: -Infinity, hi: Infinity }, ...names }];
  const unrouted = endpoint.unrouted?.client ?? { lo: trace.now, hi: Infinity };
  return [{ span: { lo: signal.client.lo - unrouted.hi, hi: signal.client.hi - unrouted.lo }, ...names }];
}

const since = (trace: Trace): Estimate => onClient({ lo: trace.now, hi: Infinity }, []);

interface Words {
  what: string;
  show(span: Span): string;
  figure(value: number): string;
  /** By how much. */
  excess(value: number): string;
  /** Narrower than this the interval is told as one number. */
  exact: number;
  /** Behind what was measured. */
  of?: string;
}

/** Milliseconds. */
const time = { show: seconds, figure: exactly, excess: exactly, exact: 100 };
const ratio = { show: shares, figure: exactPercent, excess: points, exact: 0.01 };

function atMost(span: Span, limit: number, { what, show, figure, excess, exact, of = '' }: Words): Omit<Gate, 'name'> {
  const told = `${what} ${show(span)}${of}`;
  const most = `the ${figure(limit)} allowed`;
  const least = widthOf(span) > exact ? 'at least ' : '';
  if (span.hi <= limit)
    return { passed: true, message: `${told}, ${least}${excess(limit - span.hi)} less than ${most}` };
  if (span.lo > limit)
    return { passed: false, message: `${told}, ${least}${excess(span.lo - limit)} more than ${most}` };
  const doubt = Number.isFinite(span.hi)
    ? `it may be ${excess(span.hi - limit)} more than`
    : 'nothing proves that it stays within';
  return { passed: false, message: `${told}: ${doubt} ${most}` };
}

function leadAtLeast({ span, route, container }: Lead, limit: number): Omit<Gate, 'name'> {
  const wanted = `the ${exactly(limit)} wanted`;
  const told = leadWords(span, `the unrouting in ${route}`, `the stop signal of ${container}`);
  const least = widthOf(span) > time.exact ? 'at least ' : '';
  if (span.lo >= limit)
    return { passed: true, message: `${told}, ${least}${exactly(span.lo - limit)} more than ${wanted}` };
  if (span.hi < limit)
    return { passed: false, message: `${told}, ${least}${exactly(limit - span.hi)} less than ${wanted}` };
  const doubt = Number.isFinite(span.lo) ? `it may be ${exactly(limit - span.lo)} less than` : 'nothing proves';
  return { passed: false, message: `${told}: ${doubt} ${wanted}` };
}

function leadWords({ lo, hi }: Span, unrouting: string, signal: string): string {
  if (hi <= 0)
    return `${signal} came ${Number.isFinite(lo) ? seconds({ lo: -hi, hi: -lo }) : `at least ${exactly(-hi)}`} before ${unrouting}`;
  if (!Number.isFinite(hi)) return `${signal} came at an unknown time after ${unrouting}`;
  if (lo < -time.exact) return `${signal} came between ${exactly(-lo)} before and ${exactly(hi)} after ${unrouting}`;
  if (lo < 0) return `${signal} came at most ${exactly(hi)} after ${unrouting}, perhaps before it`;
  return `${signal} came ${seconds({ lo, hi })} after ${unrouting}`;
}

/** `31 %`, `between 30 % and 60 %`, `at least 50 %`, `an unknown share`. */
function shares({ lo, hi }: Span): string {
  if (!Number.isFinite(hi) && lo < 0.005) return 'an unknown share';
  if (!Number.isFinite(hi)) return `at least ${percent(lo)}`;
  if (hi - lo <= 0.05) return percent((lo + hi) / 2);
  return `between ${percent(lo)} and ${percent(hi)}`;
}

/** A small excess is told to the millisecond: "0 s more" would explain nothing. */
function exactly(ms: number): string {
  return `${Number((ms / 1000).toFixed(Math.abs(ms) < 100 ? 3 : 2))} s`;
}

function exactPercent(share: number): string {
  return `${Number((share * 100).toFixed(1))} %`;
}

function points(share: number): string {
  return `${Number((share * 100).toFixed(1))} points`;
}
