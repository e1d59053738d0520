/** All samples by name. Every renderer is tested with each of them. */
import type { ExitReport } from '../../../src/model/report.ts';
import { hostile } from './hostile.ts';
import { forced, graceful, held, killed, removed, sidecars, stuck, unknown } from './sample-reports.ts';

export const samples: readonly (readonly [string, () => ExitReport])[] = Object.entries({
  graceful,
  killed,
  sidecars,
  held,
  forced,
  removed,
  stuck,
  unknown,
  hostile,
});
