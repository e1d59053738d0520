/** The card that ends a run over several pods, and the line that lines mode prints for each pod that has ended. */
import { lengthText, secondsText, shareText } from '../../verdict/words.ts';
import { totalText } from '../../verdict/headline.ts';
import type { Report } from '../../verdict/report.ts';
import type { RolloutNumbers } from '../../verdict/rollout.ts';
import { iconOf, lastLines, trafficSign, type CardOptions, type Icon } from './card.ts';
import { cardLayout, rowLines, sentenceRow, type CardRow } from './card-rows.ts';
import { triggerText } from '../mark-text.ts';
import type { Ink, Pen, SymbolName } from '../palette.ts';
import { heldText } from '../pod-facts.ts';
import { flow, piece, plain } from '../prose.ts';
import { forTerminal } from '../safe-text.ts';
import { clockText, type Timestamps } from '../time-text.ts';

/** `23:04:31.2  checkout-6677656c54-258qr  ✔ Graceful: app exited 3.1s after SIGTERM …`; several lines only in a window. */
export function endedPodLines(pen: Pen, report: Report, timestamps: Timestamps, width = Infinity): string[] {
  const { timeline, verdict, answer } = report;
  const time = timestamps === 'relative' ? '' : `${clockText(timeline.now, 1, timestamps)}  `;
  return endedLines(pen, time, timeline.pod.metadata.name, iconOf({ verdict }), answer.summary, width);
}

/** What has ended, as one line, or in `width` columns. `name`, `words`: unescaped. */
export function endedLines(
  pen: Pen,
  time: string,
  name: string,
  { symbol, ink }: { readonly symbol: SymbolName; readonly ink: Ink },
  words: string,
  width: number,
): string[] {
  const head = [piece('dim', time), piece('accent', forTerminal(name)), plain('  '), piece(ink, pen.symbol(symbol))];
  return flow(pen, [...head, plain(` ${forTerminal(words, 1000)}`)], { width, hang: 2 });
}

export function rolloutIcon({ exitCode, outcomes, incomplete }: RolloutNumbers): Icon {
  const isNothing = outcomes['not-started'] !== undefined && outcomes.stuck === undefined && incomplete === undefined;
  return iconOf({ verdict: { exitCode, outcome: isNothing ? 'not-started' : 'stuck' } });
}

export function rolloutCardLines(numbers: RolloutNumbers, options: CardOptions): string[] {
  const { pen, columns, flags = '', rowsOnly = false } = options;
  const layout = cardLayout(pen, columns, []);
  const rows = rolloutRows(numbers, pen, flags).flatMap((row) => rowLines(layout, row));
  if (rowsOnly) return rows;
  const icon = rolloutIcon(numbers);
  const name = [piece(icon.ink, `${pen.symbol(icon.symbol)} `), piece('strong', forTerminal(numbers.target))];
  const text = plain(`  ${numbers.sentence}${forTerminal(deletedByText(numbers), 1000)}`);
  const head = flow(pen, [...name, text], { width: layout.width, hang: 2 });
  return [...head, '', ...rows, '', ...lastLines(options, icon, numbers.sentence)];
}

/** The rows between the first and the last line. `flags`: connection flags to append to a suggested command. */
export function rolloutRows(numbers: RolloutNumbers, pen: Pen, flags = ''): CardRow[] {
  const { outcomes, drain, signal, graceUsed, unseen, pods, total, deleting, worst, fix } = numbers;
  const counts = Object.entries(outcomes).map(([outcome, count]) => `${count} ${outcome}`);
  if (unseen.length > 0) counts.push(`${unseen.length} not observed`);
  // Rounded as they are shown, so that the parts add up.
  const rest = secondsText(100 * (Math.round((total ?? 0) / 100) - Math.round(deleting / 100)));
  const paced = `${numbers.trigger === 'rollout' ? 'rolled out' : 'deleted'} over ${secondsText(deleting)}`;
  if (total !== undefined)
    counts.push(`${secondsText(total)}${deleting < 1000 ? ' in all' : `: ${paced}, all gone ${rest} later`}`);
  // For a few pods the maximum says enough.
  const middle = drain && pods >= 5 ? `p50 ${lengthText(drain.p50)} · p90 ${lengthText(drain.p90)} · ` : '';
  const used = graceUsed ? `, ${shareText(graceUsed.max, numbers.graceMs)} of the grace period` : '';
  const row = (label: string, text: string | undefined, command?: string): CardRow[] =>
    text ? [sentenceRow(label, text, [], command)] : [];
  return [
    ...row(numbers.what, pods + unseen.length > 0 ? numbers.incomplete : undefined),
    ...row('exits', counts.join(' · ')),
    ...row('slowest', numbers.slowest && slowestText(numbers.slowest)),
    ...worst.map(({ pod, summary }, index) =>
      sentenceRow(index === 0 ? 'worst' : '', ` ${summary}`, [piece('accent', pen.letters(forTerminal(pod)))]),
    ),
    ...row('stop', drain && `${middle}max${numbers.observed} ${lengthText(drain.max)} from ${signal} to exit${used}`),
    ...numbers.traffic.map(({ grade, text }, index) =>
      sentenceRow(index === 0 ? 'traffic' : '', `: ${text}`, [trafficSign(pen, grade, numbers.requests.length > 0)]),
    ),
    ...numbers.requests.slice(0, 2).flatMap((text) => row('requests', text)),
    ...row('why', numbers.why),
    ...row('missed', unseen.slice(0, 3).join(', ')),
    ...row('fix', numbers.advice),
    ...row('fix', fix?.reason, fix && `${fix.command}${flags}`),
  ];
}

/** ` (Eviction API; web-5qlrp first refused for 15.1s by a PodDisruptionBudget)`; empty for what a command of ours did. */
function deletedByText({ trigger = 'unknown', held, pods }: RolloutNumbers): string {
  const by = ['this-command', 'rollout', 'unknown'].includes(trigger) ? [] : [triggerText[trigger]];
  const texts = [...by, ...(held ? [`${held.pod} ${held.note}`, `${held.pods} of ${pods} pods waited`] : [])];
  return texts.length === 0 ? '' : ` (${texts.join('; ')})`;
}

/** `web-5qlrp gone after 8.1s: 3.1s waiting for the kubelet on node1 after the exit; meanwhile 24 others were terminating there` */
function slowestText({ timeline, ledger, beside }: NonNullable<RolloutNumbers['slowest']>): string {
  const others = `; meanwhile ${beside} ${beside === 1 ? 'other was' : 'others were'} terminating there`;
  return `${timeline.pod.metadata.name} gone after ${totalText(timeline)}${heldText(ledger)}${beside > 0 ? others : ''}`;
}
