/** HTML and SVG as values: strings become markup only through `tag`, which escapes everything that is not markup yet. */
import { forMarkup } from '../safe-text.ts';

/** Markup that is safe to write out. */
export interface Html {
  readonly html: string;
}

export type Child = Html | string | number | undefined | false;
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** Long enough for any sentence of ours. */
const maxTextLength = 4000;

const voidElements = new Set(['meta', 'br']);

/** An element. Attributes that are undefined or false are left out; strings among the children are text. */
export function tag(name: string, attributes: Attributes = {}, ...children: Child[]): Html {
  const present = Object.entries(attributes).filter(([, value]) => value !== undefined && value !== false);
  const open = `<${name}${present.map(([key, value]) => ` ${key}="${forMarkup(value === true ? '' : String(value), maxTextLength)}"`).join('')}>`;
  return { html: voidElements.has(name) ? open : `${open}${join(children).html}</${name}>` };
}

/** Several pieces side by side. */
export function join(children: readonly Child[], separator = ''): Html {
  return { html: children.map(write).filter(Boolean).join(separator) };
}

/** Our own markup, style or script, unescaped. Never for a string from a report. */
export const trusted = (html: string): Html => ({ html });

function write(child: Child): string {
  if (child === undefined || child === false) return '';
  return typeof child === 'object' ? child.html : forMarkup(String(child), maxTextLength);
}
