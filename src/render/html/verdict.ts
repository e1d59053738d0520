/** The top of the page: how it ended, the few numbers that matter, and what was found. */
import type { ExitReport, Finding } from '../../model/report.ts';
import { deletedBy, exitCodeWords, outcomeSentence, outcomeWord } from '../outcome-text.ts';
import { describeLasted, describeUsed } from '../summary.ts';
import { citations } from './tables.ts';
import type { Html } from './tag.ts';
import { tag } from './tag.ts';

type Tone = 'good' | 'bad' | 'doubt';

const tones: Record<ExitReport['verdict']['outcome'], Tone> = {
  graceful: 'good',
  removed: 'good',
  killed: 'bad',
  oom: 'bad',
  failed: 'bad',
  forced: 'bad',
  overran: 'bad',
  stuck: 'doubt',
  unknown: 'doubt',
  'not-started': 'doubt',
};
const symbols: Record<Tone, string> = { good: '✓', bad: '✗', doubt: '?' };

export function headerOf(report: ExitReport): Html {
  const { pod, verdict } = report;
  const tone = report.mode === 'check' ? 'doubt' : tones[verdict.outcome];
  return tag(
    'header',
    {},
    tag('p', { class: 'eyebrow' }, 'podexit · ', tag('span', {}, pod.namespace)),
    tag(
      'h1',
      {},
      tag(
        'span',
        { class: `outcome ${tone}` },
        `${report.mode === 'check' ? '•' : symbols[tone]} ${outcomeWord(report)}`,
      ),
      tag('code', {}, pod.name),
    ),
    tag('p', { class: 'lead' }, outcomeSentence(report)),
    factsOf(report),
  );
}

function factsOf(report: ExitReport): Html {
  const { pod, grace, mode } = report;
  const facts: [string, string | undefined][] = [
    ['gone after', describeLasted(report) ?? (mode === 'check' ? undefined : 'not seen')],
    ['grace used', describeUsed(report) ?? (mode === 'check' ? undefined : '–')],
    ['grace', `${grace.effectiveSeconds}s${grace.requestedSeconds === null ? ' (spec)' : ' (asked for)'}`],
    ['exit code', exitCodeWords(report)],
    ['deleted by', deletedBy(report)],
    ['mode', mode],
    ['node', pod.node],
    ['owner', pod.owner && `${pod.owner.kind}/${pod.owner.name}`],
    ['runtime class', pod.runtimeClass],
  ];
  const known = facts.filter((fact): fact is [string, string] => fact[1] !== undefined);
  return tag(
    'dl',
    { class: 'facts' },
    ...known.map(([name, value]) => tag('div', {}, tag('dt', {}, name), tag('dd', {}, value))),
  );
}

export function findingsOf(report: ExitReport): Html {
  const { findings } = report.verdict;
  const body = findings.length === 0 ? tag('p', { class: 'note' }, 'Nothing worth a remark.') : undefined;
  const items = findings.map((finding) => item(report, finding));
  return tag(
    'section',
    { 'aria-labelledby': 't-findings' },
    tag('h2', { id: 't-findings' }, 'Findings'),
    body ?? tag('ul', { class: 'findings' }, ...items),
  );
}

function item(report: ExitReport, { code, severity, message, advice, evidence }: Finding): Html {
  return tag(
    'li',
    { class: severity },
    tag('p', { class: 'code' }, tag('b', {}, severity), ' ', tag('code', {}, code)),
    tag('p', {}, message),
    advice !== undefined && tag('p', { class: 'advice' }, tag('b', {}, 'Next step: '), advice),
    evidence.length > 0 && tag('p', { class: 'evidence' }, 'evidence ', citations(report, evidence)),
  );
}
