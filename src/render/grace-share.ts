/** What a phase took of the grace: told of those that spend it. */
import type { Phase, PhaseName } from '../model/report.ts';
import { weaker } from '../verdict/figures.ts';
import { formatShare } from './duration.ts';

/** Phases that spend a container's grace; the others go on beside or after it. */
const spends: Record<PhaseName, boolean> = {
  accept: false,
  notice: false,
  'route-removal': false,
  prestop: true,
  'sidecar-wait': true,
  drain: true,
  overtime: false,
  cleanup: false,
  finalize: false,
  replace: false,
};

export const spendsGrace = ({ name }: Pick<Phase, 'name'>): boolean => spends[name];

/** `~31%`; undefined for a phase that spends none. */
export const graceShare = ({ name, start, end, ofGrace }: Omit<Phase, 'seconds'>): string | undefined =>
  spends[name] ? formatShare(ofGrace, weaker(start.basis, end.basis)) : undefined;
