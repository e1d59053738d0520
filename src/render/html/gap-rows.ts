import type { ExitReport } from '../../model/report.ts';
import { millis } from '../offsets.ts';
import { row } from './row.ts';
import type { Scale } from './scale.ts';
import { at, wide } from './scale.ts';
import type { Html } from './tag.ts';
import { tag } from './tag.ts';

/** Stretches in which something may have been missed, hatched; a row a resource. */
export function gapRows(report: ExitReport, scale: Scale, guides: Html): Html[] {
  const resources = [...new Set(report.gaps.map(({ resource }) => resource))];
  return resources.map((resource) => {
    const gaps = report.gaps.filter((gap) => gap.resource === resource);
    const causes = [...new Set(gaps.map(({ cause }) => cause))].join(', ');
    const boxes = gaps.flatMap((gap) => drawGap(scale, gap));
    return row(`not seen: ${resource}`, causes, `gaps in what was seen of ${resource}`, 36, [guides, ...boxes]);
  });
}

function drawGap(scale: Scale, { resource, from, to, cause }: ExitReport['gaps'][number]): Html[] {
  const begin = millis(from);
  if (begin === undefined) return [];
  const min = (begin - scale.zero) / 1000;
  const max = to === undefined ? scale.to : ((millis(to) ?? begin) - scale.zero) / 1000;
  const box = { class: 'gap', x: at(scale, min), width: wide(scale, { min, max }), y: 8, height: 20, rx: 3 };
  return [tag('g', {}, tag('title', {}, `${resource}: ${cause}`), tag('rect', box))];
}
