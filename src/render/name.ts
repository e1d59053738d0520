/** `-o name`: what kubectl would call it. */
import type { Report } from '../verdict/report.ts';
import { forTerminal } from './safe-text.ts';

export const renderName = ({ timeline }: Report): string => `pod/${forTerminal(timeline.pod.metadata.name)}\n`;
