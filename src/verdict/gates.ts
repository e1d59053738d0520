/**
 * Gates for pipelines: limits on one exit, each a named check of the report. Pure.
 *
 * A gate passes only if the evidence proves that its limit was kept. If the measured interval reaches beyond the limit,
 * the gate fails and says that this is not proven: a gate that passes the unknown protects nothing.
 */
import { reportedExit } from '../infer/context.ts';
import { between, onClient, type Estimate } from '../infer/estimate.ts';
import { isMostlyUnmeasured, lossProbes, lostBy, unmeasuredBy, type ProbeResult } from '../infer/probes.ts';
import type { ContainerTimeline, RoutedEndpoint, Timeline } from '../infer/timeline.ts';
import { severities, type Finding, type Gate, type Severity } from '../model/report.ts';
import { anyTime, type Span } from '../model/span.ts';
import { lengthText, secondsText, shareText } from './words.ts';
import {
  graceText,
  longestGraceMs,
  mainContainers,
  markOf,
  ranContainers,
  servingContainers,
  shareOfGrace,
  signalName,
  type RuleInput,
} from './rule-input.ts';
import type { GateSpec, MaxLost } from './policy.ts';
import { leadText, routedEndpoints, whyEndpointsUnknown } from './routing.ts';

type Result = Pick<Gate, 'passed' | 'message'>;

export function gateOf(spec: GateSpec, input: RuleInput | undefined, findings: readonly Finding[]): Gate {
  if (spec.kind === 'fail-on') return failOnGate(spec.wanted, findings);
  const name = spec.kind;
  if (!input) return { name, passed: false, message: 'no deletion was observed, so there was nothing to measure' };
  if (spec.kind === 'max-lost') return lostWithin(input.timeline.probes, spec);
  if (spec.kind === 'max-grace-used') return { name, limit: percent(spec.share), ...graceUsed(input, spec.share) };
  const judge = spec.kind === 'max-duration' ? duration : drainLead;
  return { name, limit: `${Number((spec.ms / 1000).toFixed(3))}s`, ...judge(input, spec.ms) };
}

/** A severity also matches graver ones; `any` matches every problem. */
export function failOnGate(
  wanted: string,
  findings: readonly (Pick<Finding, 'severity' | 'message'> & { code: string })[],
): Gate {
  const least = wanted === 'any' ? 1 : severities.indexOf(wanted as Severity);
  const found = findings.filter(({ code, severity }) =>
    least < 0 ? code === wanted : severities.indexOf(severity) >= least,
  );
  const message = found.map((finding) => finding.message).join('; ') || `no finding ${wanted}`;
  return { name: `fail-on ${wanted}`, passed: found.length === 0, message };
}

function duration({ timeline, deletion }: RuleInput, limit: number): Result {
  const { requested, accepted } = deletion;
  const end = markOf(timeline, 'removed')?.at;
  const took = between(requested ?? accepted, end?.estimate ?? notBeforeNow(timeline));
  const text = end
    ? `took ${timeline.total ? lengthText(timeline.total) : '?'}`
    : `not finished after ${secondsText(took.lo)}`;
  if (end && timeline.total && timeline.total.shown > limit) return { passed: false, message: text };
  return atMost(took, limit, text, (ms) => secondsText(ms, 2));
}

/** Judges the container that used most. Sidecars share the grace period, so the time before their turn counts. */
function graceUsed(input: RuleInput, limit: number): Result {
  const used = ranContainers(input.timeline).map((container) => {
    // Only a reported exit bounds it: the end of a log or the removal of the object proves no end.
    const { min, max } = (reportedExit(container) && container.graceUsed) ?? { min: 0, max: Infinity };
    return { container, lo: min, hi: max };
  });
  const [most] = used.sort((a, b) => b.hi - a.hi || b.lo - a.lo);
  if (!most) return { passed: true, message: 'no container was running, so none of the grace period was used' };
  const { min: lo, max: hi } = shareOfGrace(input.timeline, { min: most.lo, max: most.hi, shown: most.hi });
  const text = `${most.container.name} used ${usedText(input.timeline, most.container, { lo, hi })}`;
  return atMost({ lo, hi }, limit, text, percent);
}

/** `≈31% of its grace period`, `all of its 6s grace period, and exited 0.1s past the grace period`. */
function usedText(timeline: Timeline, { pastGrace: past, graceUsed }: ContainerTimeline, { lo, hi }: Span): string {
  const grace = graceText(timeline);
  if (!Number.isFinite(hi) && lo < 0.005) return `an unknown share of its ${grace}`;
  if (!Number.isFinite(hi)) return `at least ${percent(Math.min(1, lo))} of its ${grace}`;
  if (lo >= 1) return `all of its ${grace}${past ? `, and exited ${lengthText(past)} past the grace period` : ''}`;
  const likely = graceUsed ? shareOfGrace(timeline, graceUsed).shown : (lo + hi) / 2;
  const shown = Math.min(Math.max(likely, lo), hi);
  return `${shareText({ min: lo, max: hi, shown }, longestGraceMs(timeline))} of its ${grace}`;
}

/** Judges the shortest lead of all pairs of a readiness-based endpoint and a container that serves it. */
function drainLead(input: RuleInput, limit: number): Result {
  const unseen = whyEndpointsUnknown(input);
  if (unseen !== undefined) return { passed: false, message: unseen };
  const endpoints = routedEndpoints(input.timeline);
  if (endpoints.length === 0) return { passed: true, message: 'no Service routes to this pod by its readiness' };
  const leads = endpoints.flatMap((endpoint) =>
    (servingContainers(input, endpoint.service) ?? mainContainers(input.timeline)).map((container) =>
      leadOf(input.timeline, endpoint, container),
    ),
  );
  const [least] = leads.sort((a, b) => a.lo - b.lo || a.hi - b.hi);
  if (!least) return { passed: true, message: 'no container was running, so no stop signal was sent' };
  const { endpoint, container, lo, hi } = least;
  const service = endpoint.service === undefined ? endpoint.slice : `Service ${endpoint.service}`;
  const text = (when: string): string =>
    `${signalName(container)} of ${container.name} ${when} removal from ${service}`;
  const lead = leadText({ min: lo, max: hi, shown: Number.isFinite(lo) ? (lo + hi) / 2 : hi });
  if (lo >= limit || hi < limit) return { passed: lo >= limit, message: text(`came ${lead}`) };
  const earliest = text(`may have come ${lo < 0 ? 'before' : `${secondsText(lo, 2)} after`}`);
  const latest = Number.isFinite(hi) ? `, at the latest ${secondsText(hi, 2)} after it` : '';
  return { passed: false, message: `${earliest}${latest}: not proven to be late enough` };
}

/** From the removal to the stop signal, ms; negative if the signal came first. */
function leadOf(timeline: Timeline, endpoint: RoutedEndpoint, container: ContainerTimeline) {
  const { stopSignal } = container.bounds;
  if (!stopSignal) return { endpoint, container, ...anyTime };
  const { lo, hi } = (endpoint.unroutedAt?.estimate ?? notBeforeNow(timeline)).client;
  return { endpoint, container, lo: stopSignal.client.lo - hi, hi: stopSignal.client.hi - lo };
}

const notBeforeNow = ({ now }: Timeline): Estimate => onClient({ lo: now, hi: Infinity }, []);

/** Compares an interval with its limit. `format` prints the upper bound. */
function atMost({ lo, hi }: Span, limit: number, message: string, format: (value: number) => string): Result {
  if (hi <= limit || lo > limit) return { passed: hi <= limit, message };
  const most = Number.isFinite(hi) ? `it may have been ${format(hi)}` : 'it has no upper bound';
  return { passed: false, message: `${message}, not proven to be within the limit: ${most}` };
}

const percent = (ratio: number): string => `${Number((ratio * 100).toFixed(1))}%`;

/** A probe implies `--max-lost 0`, in a replay too. */
export function withImpliedLoss(probes: readonly ProbeResult[], gates: readonly Gate[]): Gate[] {
  const isImplied = probes.some(({ via }) => via !== 'pod-proxy') && gates.every(({ name }) => name !== 'max-lost');
  return isImplied ? [...gates, lostWithin(probes, { kind: 'max-lost', count: 0 })] : [...gates];
}

/** Passes only if of each target most requests were measured. */
export function lostWithin(results: readonly ProbeResult[], limit: MaxLost): Gate {
  const name = 'max-lost';
  const probes = lossProbes(results);
  const { sent, failed } = lostBy(probes);
  const message = `${failed} of ${sent} requests failed`;
  if ('share' in limit && limit.share >= 1) return { name, passed: true, message };
  const unproven = (why: string): Gate => ({ name, passed: false, message: why });
  const silent = results.find(({ via, sent, succeeded }) => via !== 'pod-proxy' && sent > 0 && succeeded === 0);
  if (silent) return unproven(`none of ${silent.sent} requests to ${silent.target} succeeded`);
  if (sent === 0) return unproven('no request was measured, so nothing proves that none was lost');
  const passed = failed <= ('count' in limit ? limit.count : limit.share * sent);
  const blind = probes.find(isMostlyUnmeasured);
  if (passed && blind)
    return unproven(
      `${message}, but ${unmeasuredBy(blind)} of ${blind.target} were not measured: not proven to be within the limit`,
    );
  if ('count' in limit) return { name, passed, message: message + (limit.count > 0 ? ` (limit: ${limit.count})` : '') };
  return { name, passed, message: `${message} (${shareOfSent(failed / sent)}; limit: ${shareOfSent(limit.share)})` };
}

/** `0.1%`, `0.012%`: small shares of many requests matter. */
const shareOfSent = (share: number): string => `${Number((share * 100).toPrecision(2))}%`;
