/**
 * The card that ends a run over several pods: the answer, counts, the slowest, drain and grace used, traffic, causes, the
 * worst three, one fix; and the one line that lines mode prints for each pod that has ended.
 */
import type { FixAnswer } from '../verdict/answer.ts';
import { lengthText, secondsText } from '../verdict/length-text.ts';
import type { Report } from '../verdict/report.ts';
import { plural } from '../verdict/words.ts';
import { iconOf } from './card.ts';
import type { CardPlace } from './card.ts';
import type { CardRow } from './card-layout.ts';
import { cardLayout, rowLines } from './card-layout.ts';
import type { Pen } from './palette.ts';
import { flow, piece, plain } from './prose.ts';
import type { Quantiles, RolloutSummary } from './rollout-state.ts';
import { forTerminal } from './safe-text.ts';
import { clockText } from './time-text.ts';
import type { Timestamps } from './time-text.ts';

/** `23:04:31.2  checkout-6677656c54-258qr  ✔ Graceful: app exited 3.1s after SIGTERM …` */
export function endedPodLine(pen: Pen, report: Report, timestamps: Timestamps): string {
  const { symbol, ink } = iconOf(report);
  const { timeline, answer } = report;
  const time = timestamps === 'relative' ? '' : `${clockText(timeline.now, 1, timestamps)}  `;
  const name = pen.letters(forTerminal(timeline.pod.metadata.name));
  return `${pen.paint('dim', time)}${pen.paint('accent', name)}  ${pen.paint(ink, pen.symbol(symbol))} ${pen.letters(forTerminal(answer.summary, 1000))}`;
}

/** `fix`: the one that helps most pods. */
export function rolloutCardLines(summary: RolloutSummary, { pen, columns, flags = '' }: CardPlace, fix?: FixAnswer): string[] {
  const rows = rowsOf(summary, pen);
  if (fix)
    rows.push({
      label: 'fix',
      pieces: [plain(forTerminal(fix.reason, 1000))],
      command: forTerminal(`${fix.command}${flags}`, 4000),
    });
  const layout = cardLayout(pen, columns, []);
  const { symbol, ink } = iconOf({ verdict: { exitCode: summary.exitCode, outcome: 'unknown' } });
  const last = `${pen.paint(ink, pen.symbol(symbol))} ${pen.letters(forTerminal(summary.sentence, 1000))}`;
  const head = flow(
    pen,
    [piece(ink, `${pen.symbol(symbol)} `), piece('strong', forTerminal(`${summary.namespace} ${summary.target}`)), plain(`  ${forTerminal(headText(summary))}`)],
    { width: layout.width, hang: 2 },
  );
  return [...head, '', ...rows.flatMap((row) => rowLines(layout, row)), '', last];
}

const headText = ({ pods, totalMs }: RolloutSummary): string =>
  `${plural(pods, 'pod')} terminated${totalMs === undefined ? '' : ` in ${secondsText(totalMs)}`}`;

function rowsOf(summary: RolloutSummary, pen: Pen): CardRow[] {
  const { outcomes, slowest, drainMs, graceUsed, causes, worst, unseen } = summary;
  const counts = Object.entries(outcomes).map(([outcome, count]) => `${count} ${outcome}`);
  if (unseen.length > 0) counts.push(`${unseen.length} not observed`);
  const row = (label: string, text: string | undefined): CardRow[] =>
    text === undefined || text === '' ? [] : [{ label, pieces: [plain(forTerminal(text, 1000))] }];
  return [
    ...row('exits', counts.join(' · ')),
    ...row('slowest', slowest && `${slowest.pod} ${secondsText(slowest.totalMs)}`),
    ...row('drain', drainMs && quantiles(drainMs, (ms) => lengthText({ min: ms, max: ms, shown: ms }))),
    ...row('grace', graceUsed && quantiles(graceUsed, (ratio) => (ratio > 1 ? 'past the grace period' : `${Math.round(ratio * 100)}%`))),
    ...row('traffic', trafficText(summary)),
    ...row('causes', causes.map(({ code, pods }) => `${code} (${pods} of ${summary.pods})`).join(', ')),
    ...worst.slice(0, 3).map(({ pod, summary: text }, index) => ({
      label: index === 0 ? 'worst' : '',
      pieces: [piece('accent', pen.letters(forTerminal(pod))), plain(` ${forTerminal(text, 1000)}`)],
    })),
  ];
}

const quantiles = ({ p50, p90, max }: Quantiles, text: (value: number) => string): string =>
  `p50 ${text(p50)} · p90 ${text(p90)} · max ${text(max)}`;

const trafficWords = { lost: 'lost', 'at-risk': 'at risk', safe: 'safe', 'not-judged': 'not judged' } as const;

/** `at risk: 6 of 6` */
const trafficText = ({ traffic, pods }: RolloutSummary): string =>
  (['lost', 'at-risk', 'safe', 'not-judged'] as const)
    .flatMap((word) => (traffic[word] ? [`${trafficWords[word]}: ${traffic[word]} of ${pods}`] : []))
    .join(' · ');
