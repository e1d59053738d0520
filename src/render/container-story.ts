/** What became of one container, in words: what it spent its grace on, in order, and how it ended. */
import type { ContainerReport, ExitReport, PhaseName, Range } from '../model/report.ts';
import { seconds } from '../verdict/words.ts';

/** `drain 3.1 s, exited 0` */
export function containerStory(report: ExitReport, container: ContainerReport): string {
  const { name, kind, preStop } = container;
  const own = report.phases.filter(({ subject }) => subject === name);
  const parts = own.flatMap(({ name: phase, seconds: range }) => {
    const word = phaseWords[phase];
    if (word === undefined) return [];
    const text = word.replace('%', span(range));
    return phase === 'prestop' && preStop ? `preStop ${preStop.kind} ${hookWords[preStop.outcome]}${text}` : text;
  });
  return [...(kind === 'container' ? [] : [kind]), ...parts, endWords(container)].join(', ');
}

const phaseWords: Partial<Record<PhaseName, string>> = {
  prestop: '%',
  'sidecar-wait': 'waited % for its turn',
  drain: 'drain %',
  overtime: '% of it after the grace had run out',
};

const hookWords: Record<NonNullable<ContainerReport['preStop']>['outcome'], string> = {
  completed: '',
  failed: 'failed after ',
  'cut-off': 'cut off after ',
  unknown: '',
};

/** `killed (SIGKILL, exit 137)` */
export function endWords({ exit, stopSignal, outcome }: ContainerReport): string {
  const code = exit === undefined ? '' : ` ${exit.code}`;
  const words: Record<ContainerReport['outcome'], string> = {
    completed: 'exited 0',
    signalled: `ended by ${stopSignal ? 'its stop' : 'a'} signal (exit${code})`,
    failed: `exited${code}`,
    killed: 'killed (SIGKILL, exit 137)',
    oom: 'killed for memory (OOMKilled)',
    abandoned: 'still ran when the object was removed',
    'not-running': 'was not running',
    unknown: exit === undefined ? 'was not seen to end' : `exited${code}, nothing tells why`,
  };
  return words[outcome];
}

/** Seconds in words that follow "in": `3.1 s`, `about 3 s`, `at most 1 s`, `1.9–3.8 s`. */
export const span = ({ min, max }: Range): string =>
  seconds({ lo: min * 1000, hi: max * 1000 }).replace(/^between (.+) s and (.+ s)$/, '$1–$2');
