/** `-o sentence`: the answer in one line, for a chat or a log. */
import type { Report } from '../../verdict/report.ts';
import type { RolloutNumbers } from '../../verdict/rollout.ts';
import { iconOf } from './card.ts';
import { penFor, plainStyle } from '../palette.ts';
import { ownerText, podText } from '../pod-facts.ts';
import { rolloutIcon } from './rollout-card.ts';

const pen = penFor(plainStyle);

/** `✖ shop/checkout-6677656c54-258qr (deployment/checkout): SIGKILLed: app ignored SIGTERM …` */
export function exitSentence(report: Report): string {
  const owner = ownerText(report.timeline);
  const place = `${podText(report.timeline)}${owner === undefined ? '' : ` (${owner})`}`;
  return `${pen.symbol(iconOf(report).symbol)} ${place}: ${report.answer.summary}`;
}

export const rolloutSentence = (numbers: RolloutNumbers): string =>
  `${pen.symbol(rolloutIcon(numbers).symbol)} ${numbers.target}: ${numbers.sentence}`;
