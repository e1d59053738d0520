/** A mark in words: which lane it is told under, and what happened. One table for all line renderers. */
import type { MarkName } from '../model/report.ts';
import { parseTime } from '../model/stamps.ts';
import type { MarkView, Timestamps } from './moments.ts';
import { clockText } from './moments.ts';
import type { Ink } from './palette.ts';
import { forTerminal } from './safe-text.ts';
import type { Saying } from './telling.ts';

export interface Words {
  readonly lane: string;
  readonly text: string;
  readonly ink: Ink;
}

/** What the words of a mark lean on beside the mark itself. */
export interface Context {
  /** `exec`, `sleep 4s`, …: the container's hook; undefined for none. */
  readonly hookOf: (container: string) => string | undefined;
  readonly timestamps: Timestamps;
}

/** Escaped: what comes from the cluster is inert. */
export function wordsOf({ kind, mark }: Saying, context: Context): Words {
  const [lane, text, ink = 'plain'] = table[mark.name](mark, context);
  const words = { lane: forTerminal(lane), text: forTerminal(text), ink };
  if (kind === 'told') return words;
  if (kind === 'withdrawn') return { ...words, text: `withdrawn: ${withdrawal(mark, words.text)}`, ink: 'warning' };
  return { ...words, text: `${kind}: ${words.text}` };
}

const withdrawal = ({ name, provisional }: MarkView, text: string): string =>
  name === 'exited' && provisional ? 'the end of its log was not its exit' : text;

type Row = [lane: string, text: string, ink?: Ink];

const table: Record<MarkName, (mark: MarkView, context: Context) => Row> = {
  requested: ({ note }) => ['request', note ?? 'DELETE'],
  accepted: ({ note }, context) => ['api', `accepted, ${deadline(note, context)}`],
  acknowledged: () => ['kubelet', 'knows of the deletion', 'dim'],
  unrouted: ({ subject, note }) => ['endpoints', `${subject}: unrouted${note === undefined ? '' : `, ${note}`}`],
  'endpoint-removed': ({ subject }) => ['endpoints', `${subject}: endpoint removed`, 'dim'],
  stopping: ({ subject = '' }, { hookOf }) => {
    const hook = hookOf(subject);
    return hook === undefined
      ? [subject, 'kubelet begins to stop it', 'dim']
      : [subject, `kubelet begins to stop it: preStop ${hook} runs`];
  },
  'prestop-ended': ({ subject = '', note = 'preStop' }) => [subject, hookEnd(note), hookInk(note)],
  'stop-signal': ({ subject = '', note }, { hookOf }) => [
    subject,
    `stop signal ${note === undefined ? '' : `${note} `}sent${hookOf(subject) === undefined ? ' (no preStop)' : ''}`,
  ],
  'ready-lost': ({ subject = '' }) => [subject, 'not ready any more (its probe failed)', 'dim'],
  'first-failure': () => ['requests', 'first request failed', 'bad'],
  'last-failure': () => ['requests', 'last request failed', 'bad'],
  kill: ({ subject = '' }) => [subject, 'SIGKILL: its grace had run out', 'bad'],
  exited: (mark) => [mark.subject ?? '', exitText(mark), mark.note === 'code 0' ? 'good' : 'plain'],
  'containers-done': () => ['kubelet', 'reports that all containers have ended', 'dim'],
  'final-delete': () => ['kubelet', 'clean-up done, sends the final DELETE', 'dim'],
  finalizing: ({ note }) => ['api', `object kept by finalizers: ${note ?? 'unknown'}`, 'warning'],
  removed: () => ['api', 'object removed', 'strong'],
  'replacement-created': ({ subject }) => ['replacement', `${subject} created`],
  'replacement-scheduled': ({ subject }) => ['replacement', `${subject} scheduled`, 'dim'],
  'replacement-started': ({ subject }) => ['replacement', `${subject} started`, 'dim'],
  'replacement-ready': ({ subject }) => ['replacement', `${subject} ready`],
  'node-not-ready': ({ subject }) => ['node', `${subject} is NotReady`, 'warning'],
  'node-ready': ({ subject }) => ['node', `${subject} is Ready again`],
};

/** The API server prints its deadline as a stamp of its own clock, in whole seconds. */
function deadline(note: string | undefined, { timestamps }: Context): string {
  const time = parseTime(note?.replace(/^deadline /, ''));
  if (time === undefined) return note ?? 'no deadline told';
  return `deadline ${clockText(time, 0, timestamps)}${timestamps === 'relative' ? ' UTC' : ''}`;
}

const hookEnd = (note: string): string => {
  if (note.endsWith('unknown')) return `${note.replace(/ unknown$/, '')} over (nothing tells how it ended)`;
  return note.endsWith('cut-off')
    ? `${note.replace(/ cut-off$/, '')} cut off: it still ran when the grace ended`
    : note;
};

const hookInk = (note: string): Ink => (note.endsWith('cut-off') || note.endsWith('failed') ? 'bad' : 'plain');

function exitText({ provisional, note = '' }: MarkView): string {
  if (provisional) return 'its log ended: probably exited';
  return note === 'its log ended'
    ? 'probably exited (its log ended; no status will tell)'
    : note.replace(/^code /, 'exited ');
}
