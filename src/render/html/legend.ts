/** What the signs and colours of the picture mean: also on paper, where nothing can be pointed at. */
import type { Look } from './looks.ts';
import { looks, wordOf } from './looks.ts';
import type { Html } from './tag.ts';
import { join, tag } from './tag.ts';

const signs = [
  '◆ observed mark',
  '◇ inferred mark, with the interval it lies in',
  '┊ end of the grace, counted from when the kubelet began',
  '▽ deadline by the API (deletionTimestamp)',
  '✗ kill',
];

/** `present`: the looks of the bars that are drawn; `isHatched`: one of them has ends that overlap. */
export function legend(present: ReadonlySet<Look>, isHatched: boolean): Html {
  const hatched = isHatched && entry('swatch hatched', 'hatched: somewhere in there, for how long is uncertain');
  const colours = looks.filter((look) => present.has(look)).map((look) => entry(`chip ${look}`, wordOf(look)));
  return join([
    tag(
      'ul',
      { class: 'legend' },
      ...signs.map((sign) => tag('li', {}, sign)),
      entry('swatch', 'a faded end is uncertain'),
      hatched,
    ),
    colours.length > 0 && tag('ul', { class: 'legend', 'aria-label': 'Colours of the bars' }, ...colours),
  ]);
}

const entry = (cls: string, text: string): Html => tag('li', {}, tag('i', { class: cls }), text);
