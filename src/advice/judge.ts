/** Applies the rules to a ShutdownSpec. It promises nothing: no spec shows that an application will stop in time. */
import { severities } from '../model/report.ts';
import { plural } from '../verdict/words.ts';
import { isProblem, type CheckFinding, type Rule, type Unknown } from './finding.ts';
import { capacityRules } from './rules/capacity.ts';
import { hookRules } from './rules/hooks.ts';
import { handlingOf, signalled, signalRules, stopSignalOf } from './rules/signals.ts';
import { surroundingRules } from './rules/surroundings.ts';
import { trafficRules } from './rules/traffic.ts';
import type { ShutdownSpec } from './shutdown-spec.ts';

export type Judgement = 'no-problem-found' | 'problems' | 'cannot-tell';

export interface Checked {
  judgement: Judgement;
  /** `no problem found`, `2 problems`, `cannot tell: …`. */
  sentence: string;
  /** Most severe first. */
  findings: CheckFinding[];
  /** What the spec cannot show. */
  cannotTell: Unknown[];
}

const rules: readonly Rule[] = [...hookRules, ...signalRules, ...trafficRules, ...capacityRules, ...surroundingRules];

/** In a finished pod nothing runs: only its surroundings are judged. */
export function judge(spec: ShutdownSpec): Checked {
  const applied = spec.isFinished ? surroundingRules : rules;
  const findings = applied.flatMap((rule) => rule.find(spec)).sort((a, b) => rankOf(b) - rankOf(a));
  const cannotTell = unknownsOf(spec);
  const problems = findings.filter(isProblem).length;
  const decisive = cannotTell.find(({ isDecisive }) => isDecisive);
  const [judgement, sentence]: [Judgement, string] =
    problems > 0
      ? ['problems', plural(problems, 'problem')]
      : decisive
        ? ['cannot-tell', `cannot tell: ${decisive.what} (${decisive.because})`]
        : ['no-problem-found', 'no problem found'];
  return { judgement, sentence, findings, cannotTell: cannotTell.map(({ isDecisive: _, ...unknown }) => unknown) };
}

const rankOf = ({ severity }: CheckFinding): number => severities.indexOf(severity);

/** `isDecisive`: while this is unknown, the check may not say "no problem found". */
type WeighedUnknown = Unknown & { isDecisive?: boolean };

function unknownsOf(spec: ShutdownSpec): WeighedUnknown[] {
  const unread = spec.unread.map((unknown): WeighedUnknown => ({ ...unknown, isDecisive: true }));
  if (spec.isFinished) return unread;
  const noService: WeighedUnknown[] =
    spec.mayHaveOtherServices && spec.services.length === 0 && !['Job', 'CronJob'].includes(spec.subject.kind)
      ? [{ what: 'whether clients lose requests', because: 'no Service in these files selects it' }]
      : [];
  const noneRunning: WeighedUnknown[] = spec.notRunningNow
    ? [{ what: 'what a deletion now would stop', because: 'none of its containers runs at this moment' }]
    : [];
  const noContainer: WeighedUnknown[] =
    spec.containers.length > 0
      ? []
      : [{ what: 'how its containers stop', because: 'its spec holds no container with a name', isDecisive: true }];
  const containers = signalled(spec).flatMap((one) => [...signalUnknown(spec, one), ...hookUnknown(one)]);
  return [...noneRunning, ...noContainer, ...containers, ...noService, ...unread];
}

type Signalled = ReturnType<typeof signalled>[number];

function signalUnknown(spec: ShutdownSpec, one: Signalled): WeighedUnknown[] {
  const handling = handlingOf(spec, one);
  const { name: container, inspection } = one;
  const signal = `SIG${stopSignalOf(one)}`;
  const what = `whether ${container} handles ${signal}`;
  // Reported whatever the command shows: the user asked for an inspection, and it failed.
  const isDecisive = handling.kind === 'depends' || handling.kind === 'unknown';
  const unread: WeighedUnknown[] =
    inspection?.kind === 'unreadable' ? [{ container, what, because: inspection.because, isDecisive }] : [];
  if (handling.kind === 'handles')
    return [
      ...unread,
      { container, what: `how long ${container} takes after ${signal}`, because: `it has ${handling.how}` },
    ];
  if (unread.length > 0) return unread;
  if (handling.kind === 'depends') return [{ container, what, because: handling.because, isDecisive: true }];
  if (handling.kind !== 'unknown') return [];
  const program = handling.program === undefined ? 'its program is in the image' : `\`${handling.program}\` decides`;
  return [{ container, what, because: `${program}; check --inspect or one deletion shows it` }];
}

function hookUnknown({ name, hook }: Signalled): WeighedUnknown[] {
  if (!hook || hook.isPlainSleep || hook.kind === 'tcpSocket') return [];
  const atLeast = hook.minSeconds === undefined ? '' : `, at least ${hook.minSeconds}s`;
  return [
    {
      container: name,
      what: `how long the preStop hook of ${name} takes${atLeast}`,
      because: hook.kind === 'exec' ? `it runs ${hook.command[0] ?? 'a command'}` : 'it waits for an HTTP answer',
    },
  ];
}
