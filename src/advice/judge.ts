/** Applies the rules to a ShutdownSpec. It promises nothing: no spec shows that an application will stop in time. */
import { severities } from '../model/report.ts';
import { plural } from '../verdict/words.ts';
import type { CheckedObject, CheckedSpec } from './check-report.ts';
import { isProblem, signalled, type CheckFinding, type Rule, type Unknown } from './finding.ts';
import { capacityRules } from './rules/capacity.ts';
import { hookRules } from './rules/hooks.ts';
import { handlingOf, signalRules, stopSignalOf } from './rules/signals.ts';
import { surroundingRules } from './rules/surroundings.ts';
import { trafficRules } from './rules/traffic.ts';
import type { ContainerSpec, Path, ShutdownSpec } from './shutdown-spec.ts';

/** Most severe first. In a finished pod nothing runs: only its surroundings are judged. */
export function findingsOf(spec: ShutdownSpec): CheckFinding[] {
  const applied: readonly Rule[] = spec.isFinished ? surroundingRules : rules;
  return applied.flatMap((rule) => rule(spec)).sort((a, b) => rankOf(b) - rankOf(a));
}

const rules = [...hookRules, ...signalRules, ...trafficRules, ...capacityRules, ...surroundingRules];

export function judge({ spec, manifest }: CheckedSpec): CheckedObject {
  const file = manifest?.file;
  const found = findingsOf(spec);
  const findings = found.map(({ path, ...finding }) => {
    return { ...finding, field: path.length > 0 ? fieldOf(path) : undefined, file, line: manifest?.lineOf(path) };
  });
  const unknowns = unknownsOf(spec);
  const cannotTell = unknowns.map(({ isDecisive: _, ...unknown }): Unknown => unknown);
  return { ...spec.subject, file, line: manifest?.line, ...answerOf(found, unknowns), findings, cannotTell };
}

function answerOf(
  findings: readonly CheckFinding[],
  unknowns: readonly WeighedUnknown[],
): Pick<CheckedObject, 'judgement' | 'sentence'> {
  const problems = findings.filter(isProblem).length;
  if (problems > 0) return { judgement: 'problems', sentence: plural(problems, 'problem') };
  const decisive = unknowns.find(({ isDecisive }) => isDecisive);
  if (!decisive) return { judgement: 'no-problem-found', sentence: 'no problem found' };
  return { judgement: 'cannot-tell', sentence: `cannot tell: ${decisive.what} (${decisive.because})` };
}

const fieldOf = (path: Path): string =>
  path.map((step, at) => (typeof step === 'number' ? `[${step}]` : at === 0 ? step : `.${step}`)).join('');

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

function signalUnknown(spec: ShutdownSpec, one: ContainerSpec): WeighedUnknown[] {
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

function hookUnknown({ name, hook }: ContainerSpec): WeighedUnknown[] {
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
