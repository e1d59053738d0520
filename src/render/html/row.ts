/** A lane's row: its name beside an SVG as wide as the page lets it be. */
import type { Scale } from './scale.ts';
import { at } from './scale.ts';
import type { Html } from './tag.ts';
import { tag } from './tag.ts';

/** `label` is what a screen reader calls the picture; `height` is in pixels. */
export function row(name: string, detail: string, label: string, height: number, drawn: readonly Html[]): Html {
  const svg = { class: 'track', width: '100%', height, role: 'group', 'aria-label': label };
  return tag(
    'div',
    { class: 'lane' },
    tag('div', { class: 'lane-name' }, tag('b', { title: name }, name), tag('span', {}, detail)),
    tag('svg', svg, ...drawn),
  );
}

/** A line from `top` (pixels) to the bottom of a row. */
export const upright = (scale: Scale, seconds: number, cls: string, top = 0): Html =>
  tag('line', { class: cls, x1: at(scale, seconds), x2: at(scale, seconds), y1: top, y2: '100%' });
