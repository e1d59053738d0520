/** The answer of a verdict in words: first version, from outcome and lengths alone. Pure. */
import type { ContainerTimeline, Timeline } from '../infer/timeline.ts';
import type { FindingCode, Outcome, Verdict } from '../model/report.ts';
import type { Answer, TrafficAnswer } from './answer.ts';
import { lengthText, shareText } from './length-text.ts';
import { list } from './words.ts';

export function answerOf(timeline: Timeline, verdict: Verdict): Answer {
  const word = wordOf(timeline, verdict);
  const headline = headlines[verdict.outcome](timeline);
  return {
    word,
    headline,
    summary: `${word}: ${headline}`,
    cause: causeOf(verdict),
    traffic: trafficOf(timeline, verdict),
    fix: [],
  };
}

function wordOf(timeline: Timeline, { outcome, exitCode, gates }: Verdict): string {
  if (exitCode >= 128) return 'Interrupted';
  if ((outcome === 'graceful' || outcome === 'removed') && exitCode !== 0 && gates.some(({ passed }) => !passed))
    return 'Gate failed';
  if (outcome === 'failed') return `Exited ${having(timeline, 'failed')[0]?.exit?.code ?? '?'}`;
  return words[outcome];
}

const words: Record<Outcome, string> = {
  graceful: 'Graceful',
  removed: 'Removed',
  killed: 'SIGKILLed',
  oom: 'OOMKilled',
  failed: 'Exited',
  forced: 'Force-deleted',
  overran: 'Exited late',
  stuck: 'Stuck',
  'not-started': 'Not started',
  unknown: 'Unknown',
};

const having = ({ containers }: Timeline, outcome: ContainerTimeline['outcome']): ContainerTimeline[] =>
  containers.filter((one) => one.outcome === outcome && one.kind !== 'ephemeral');

const names = (containers: readonly ContainerTimeline[]): string =>
  list(containers.map(({ name }) => name)) || 'a container';

const headlines: Record<Outcome, (timeline: Timeline) => string> = {
  graceful: gracefulText,
  removed: () => 'no container was running',
  killed: (timeline) => killedText(timeline),
  oom: (timeline) => `${names(having(timeline, 'oom'))} ran out of memory while shutting down`,
  failed: (timeline) => {
    const [first] = having(timeline, 'failed');
    return `${first?.name ?? 'a container'} exited ${first?.exit?.code ?? '?'} after its stop signal`;
  },
  forced: (timeline) => `${names(having(timeline, 'abandoned'))} left running when the pod was force-deleted`,
  overran: (timeline) => {
    const late = timeline.containers.find(({ pastGrace }) => pastGrace);
    return `${late?.name ?? 'a container'} exited ${late?.pastGrace ? lengthText(late.pastGrace) : ''} after the grace period (not killed)`;
  },
  stuck: () => 'still terminating at the end of the wait',
  unknown: () => 'termination was not observed to its end',
  'not-started': () => 'nobody deleted the pod',
};

function gracefulText(timeline: Timeline): string {
  const ran = timeline.containers.filter((one) => one.ran && one.exit && one.kind === 'container');
  const [slowest] = [...ran].sort((a, b) => (b.graceUsed?.shown ?? 0) - (a.graceUsed?.shown ?? 0));
  if (!slowest?.drain) return 'every container that ran exited in time';
  const grace = timeline.grace.effectiveSeconds;
  const signal = slowest.stopSignal?.signal ?? 'SIGTERM';
  return `${slowest.name} exited ${lengthText(slowest.drain)} after ${signal} (${shareText(slowest.drain, grace * 1000)} of the ${grace}s grace period)`;
}

function killedText(timeline: Timeline): string {
  const [first] = having(timeline, 'killed');
  const drain = first?.drain ? ` ${lengthText(first.drain)} after ${first.stopSignal?.signal ?? 'SIGTERM'}` : '';
  return `${names(having(timeline, 'killed'))} did not exit within the ${timeline.grace.effectiveSeconds}s grace period, killed${drain}`;
}

function causeOf({ findings, outcome }: Verdict): Answer['cause'] {
  const [first] = findings;
  const code: FindingCode | undefined = outcome === 'graceful' || outcome === 'removed' ? undefined : first?.code;
  return code && { code };
}

function trafficOf({ endpoints }: Timeline, { findings }: Verdict): TrafficAnswer {
  const services = [...new Set(endpoints.flatMap(({ service }) => service ?? []))].map((name) => ({
    name,
    otherReady: Math.min(...endpoints.filter(({ service }) => service === name).map(({ otherReady }) => otherReady)),
  }));
  const race = findings.find(({ code }) => code === 'drain-race' || code === 'stays-ready');
  if (race) return { judgement: 'at-risk', reason: race.message, services };
  if (endpoints.length === 0) return { judgement: 'not-judged', reason: 'no Service selects this pod', services };
  return { judgement: 'safe', reason: '', services };
}
