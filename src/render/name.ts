/** `-o name`: what kubectl would call it. */
import type { ExitReport } from '../model/report.ts';
import { forTerminal } from './safe-text.ts';

export function renderName(report: ExitReport): string {
  return `pod/${forTerminal(report.pod.name)}\n`;
}
