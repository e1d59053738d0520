/** What a container is doing at a moment, in words, with the countdown to its kill. */
import type { ContainerExit } from '../infer/container.ts';
import type { Estimate } from '../infer/estimate.ts';
import { minimumGrace } from '../infer/grace.ts';
import type { ContainerOutcome } from '../model/report.ts';
import { second } from '../model/span.ts';
import type { Exit } from '../infer/conclusions.ts';
import type { Ink } from './palette.ts';

/** Ordered as they follow one another. */
export type ContainerState =
  | { readonly kind: 'not-running' }
  /** The kubelet has not begun with it. */
  | { readonly kind: 'running' }
  /** `ms`: how long, at least. */
  | { readonly kind: 'hook'; readonly hook: string; readonly ms: number }
  /** A sidecar whose turn has not come. */
  | { readonly kind: 'turn' }
  /** A sidecar that nothing seems to keep waiting any more; its stop signal is not known to be sent. */
  | { readonly kind: 'probably-draining' }
  | { readonly kind: 'draining' }
  /** Its log ended: the API still calls it running. */
  | { readonly kind: 'probably-exited' }
  | { readonly kind: 'ended'; readonly outcome: ContainerOutcome; readonly code: number | undefined };

/** `now`: ms, client clock. */
export function stateOf(container: ContainerExit, exit: Exit, now: number): ContainerState {
  const { ran, exit: end, hook, signal, outcome, spec } = container;
  if (!ran) return { kind: 'not-running' };
  if (end && !end.provisional) return { kind: 'ended', outcome, code: end.code };
  if (end) return { kind: 'probably-exited' };
  // Nothing will tell any more.
  if (exit.removal.removed) return { kind: 'ended', outcome, code: undefined };
  const began = container.stopping ?? exit.kubelet.noticed;
  if (!began || began.client.lo > now) return { kind: 'running' };
  const signalled = signal !== undefined && signal.client.hi <= now + 1;
  if (hook && !signalled && !isOver(hook.end, now))
    return { kind: 'hook', hook: hook.kind, ms: Math.max(0, now - began.client.hi) };
  if (spec.kind !== 'sidecar' || signalled) return { kind: 'draining' };
  return { kind: mustWait(container, exit) ? 'turn' : 'probably-draining' };
}

const isOver = (end: Estimate, now: number): boolean => end.client.hi <= now + 1;

/** Main containers come first, then sidecars in their order of stopping, which is that of `containers`. */
function mustWait(own: ContainerExit, { containers }: Exit): boolean {
  const before = containers.slice(0, containers.indexOf(own));
  return before.some((one) => one.ran && !one.exit);
}

/** For a lane's own line; the name stands before it. */
export function stateWords(state: ContainerState, kill: string | undefined): string {
  switch (state.kind) {
    case 'not-running':
      return 'was not running';
    case 'running':
      return 'running, not yet stopped';
    case 'hook':
      return withKill(`preStop ${state.hook} running, ${whole(state.ms)}`, kill);
    case 'turn':
      return withKill('waiting for its turn', kill);
    case 'probably-draining':
      return withKill('probably draining', kill);
    case 'draining':
      return withKill('draining', kill);
    case 'probably-exited':
      return 'probably exited';
    case 'ended':
      return endWords[state.outcome](state.code);
  }
}

/** The same for a lane, shorter and shorter: the countdown stays as long as there is room for it. A time may follow. */
export function laneWords(state: ContainerState, kill: string | undefined): string[] {
  const brief = briefWords(state);
  const counted = kill === undefined || !hasKill.has(state.kind) ? [] : brief.map((words) => withKill(words, kill));
  return [stateWords(state, kill), ...counted, stateWords(state, undefined), ...brief];
}

const hasKill: ReadonlySet<ContainerState['kind']> = new Set(['hook', 'turn', 'probably-draining', 'draining']);

function briefWords(state: ContainerState): string[] {
  switch (state.kind) {
    case 'running':
      return ['running'];
    case 'hook':
      return [`preStop ${state.hook}`];
    case 'turn':
      return ['waits its turn'];
    case 'probably-draining':
      return ['draining?'];
    case 'probably-exited':
      return ['exited?'];
    case 'ended':
      return briefEnd(state.outcome, state.code);
    default:
      return [];
  }
}

function briefEnd(outcome: ContainerOutcome, code: number | undefined): string[] {
  if (outcome === 'killed' || outcome === 'oom') return [outcome];
  return code === undefined ? [] : [`exited ${code}`, `${code} at`];
}

const withKill = (text: string, kill: string | undefined): string => (kill === undefined ? text : `${text}, ${kill}`);

const endWords: Record<ContainerOutcome, (code: number | undefined) => string> = {
  completed: () => 'exited 0',
  signalled: (code) => `exited ${code}, its stop signal`,
  failed: (code) => `exited ${code}`,
  killed: () => 'killed (137)',
  oom: () => 'killed for memory',
  abandoned: () => 'left running',
  'not-running': () => 'was not running',
  unknown: (code) => (code === undefined ? 'end unknown' : `exited ${code}`),
};

export const stateInk = (state: ContainerState): Ink => {
  if (state.kind !== 'ended') return state.kind === 'not-running' ? 'dim' : 'plain';
  return endInk[state.outcome];
};

const endInk: Record<ContainerOutcome, Ink> = {
  completed: 'good',
  signalled: 'good',
  failed: 'bad',
  killed: 'bad',
  oom: 'bad',
  abandoned: 'bad',
  'not-running': 'dim',
  unknown: 'warning',
};

/** Seconds that the kubelet waits where a grace (seconds) is shorter than that. */
export const leastWait = (grace: number): number | undefined =>
  grace * second < minimumGrace ? minimumGrace / second : undefined;

/**
 * When the kubelet will have it killed, ms on the client's clock: its own start plus the grace, never the
 * deletionTimestamp (SIGNALS.md trap 1), and not before the runtime's least wait is over. `now`: ms. Undefined while the
 * kubelet has not begun, and where nothing bounds its grace.
 */
export function killAt(
  { stopping, killings, signal }: ContainerExit,
  { kubelet }: Exit,
  now: number,
): { lo: number; hi: number } | undefined {
  const began = stopping ?? kubelet.noticed;
  if (!began || !Number.isFinite(began.client.hi) || !Number.isFinite(kubelet.grace.max)) return undefined;
  // After a restart of the kubelet the grace counts anew, from what its newest Killing tells (trap 36).
  const again = killings.length > 1 ? killings.at(-1) : undefined;
  const hi = again ? again.at + 1 : began.client.hi;
  const lo = again ? again.at - newsLagMs : Number.isFinite(began.client.lo) ? began.client.lo : hi;
  const sent = signal && signal.client.hi <= now + 1 ? signal.client : undefined;
  return {
    lo: Math.max(lo + kubelet.grace.min * 1000, (sent?.lo ?? lo) + minimumGrace),
    hi: Math.max(hi + kubelet.grace.max * 1000, (sent?.hi ?? hi) + minimumGrace),
  };
}

/** How old the news of a second Killing may be, for a countdown in whole seconds. */
const newsLagMs = 1000;

/** `kill in 6 s`, `kill in 4–6 s`, `kill due`. */
export function countdown(kill: { lo: number; hi: number } | undefined, now: number): string | undefined {
  if (!kill) return undefined;
  const [lo, hi] = [Math.ceil((kill.lo - now) / 1000), Math.ceil((kill.hi - now) / 1000)];
  if (hi <= 0) return 'kill due';
  return hi - Math.max(0, lo) > 1 ? `kill in ${Math.max(0, lo)}–${hi} s` : `kill in ${hi} s`;
}

/** Whole seconds, rounded down. */
export const whole = (ms: number): string => `${Math.max(0, Math.floor(ms / 1000))} s`;
