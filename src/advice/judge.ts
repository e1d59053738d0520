/** Rules over a ShutdownSpec → what a check says. It promises nothing: a spec cannot show that an application will stop in time. */
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
  /** The gravest first. */
  findings: CheckFinding[];
  /** What the spec cannot show. */
  cannotTell: Unknown[];
}

const rules: readonly Rule[] = [...hookRules, ...signalRules, ...trafficRules, ...capacityRules, ...surroundingRules];

/** What concerns containers and clients means nothing where nothing runs. */
export function judge(spec: ShutdownSpec): Checked {
  const applied = spec.isIdle ? surroundingRules : rules;
  const findings = applied.flatMap((rule) => rule.find(spec)).sort((a, b) => rankOf(b) - rankOf(a));
  const cannotTell = unknownsOf(spec);
  const problems = findings.filter(isProblem).length;
  const open = cannotTell.find(({ isOpen }) => isOpen);
  const [judgement, sentence]: [Judgement, string] =
    problems > 0
      ? ['problems', plural(problems, 'problem')]
      : open
        ? ['cannot-tell', `cannot tell: ${open.what} (${open.because})`]
        : ['no-problem-found', 'no problem found'];
  return { judgement, sentence, findings, cannotTell: cannotTell.map(({ isOpen: _isOpen, ...unknown }) => unknown) };
}

const rankOf = ({ severity }: CheckFinding): number => severities.indexOf(severity);

/** `isOpen`: without it not even "no problem found" may be said. */
type Open = Unknown & { isOpen?: boolean };

function unknownsOf(spec: ShutdownSpec): Open[] {
  const unread = spec.unread.map((one): Open => ({ ...one, isOpen: true }));
  if (spec.isIdle) return unread;
  const services: Open[] =
    spec.mayHaveOtherServices && spec.services.length === 0 && !['Job', 'CronJob'].includes(spec.subject.kind)
      ? [{ what: 'whether clients lose requests', because: 'no Service in these files selects it' }]
      : [];
  const now: Open[] = spec.notRunningNow
    ? [{ what: 'what a deletion now would stop', because: 'none of its containers runs at this moment' }]
    : [];
  const none: Open[] =
    spec.containers.length > 0
      ? []
      : [{ what: 'how its containers stop', because: 'its spec holds no container with a name', isOpen: true }];
  const containers = signalled(spec).flatMap((one) => [...signalUnknown(spec, one), ...hookUnknown(one)]);
  return [...now, ...none, ...containers, ...services, ...unread];
}

type Signalled = ReturnType<typeof signalled>[number];

function signalUnknown(spec: ShutdownSpec, one: Signalled): Open[] {
  const handling = handlingOf(spec, one);
  const { name: container, inspection } = one;
  const signal = `SIG${stopSignalOf(one)}`;
  const what = `whether ${container} handles ${signal}`;
  // Said whatever its command shows: somebody asked for a look, and there was none.
  const isOpen = handling.kind === 'depends' || handling.kind === 'unknown';
  const unread: Open[] =
    inspection?.kind === 'unreadable' ? [{ container, what, because: inspection.because, isOpen }] : [];
  if (handling.kind === 'handles')
    return [
      ...unread,
      { container, what: `how long ${container} takes after ${signal}`, because: `it has ${handling.how}` },
    ];
  if (unread.length > 0) return unread;
  if (handling.kind === 'depends') return [{ container, what, because: handling.because, isOpen: true }];
  if (handling.kind !== 'unknown') return [];
  const program = handling.program === undefined ? 'its program is in the image' : `\`${handling.program}\` decides`;
  return [{ container, what, because: `${program}; check --inspect or one deletion shows it` }];
}

function hookUnknown({ name, hook }: Signalled): Open[] {
  if (!hook || hook.isPlainSleep || hook.kind === 'tcpSocket') return [];
  const least = hook.leastSeconds === undefined ? '' : `, at least ${hook.leastSeconds}s`;
  return [
    {
      container: name,
      what: `how long the preStop hook of ${name} takes${least}`,
      because: hook.kind === 'exec' ? `it runs ${hook.command[0] ?? 'a command'}` : 'it waits for an HTTP answer',
    },
  ];
}
