/** HTML, SVG and XML as values: strings become markup only here, and everything that is not markup yet is escaped. */
import { forMarkup } from '../safe-text.ts';

/** Markup that is safe to write out. */
export interface Html {
  readonly html: string;
}

/** Undefined and false write nothing. */
export type Child = Html | string | number | undefined | false | readonly Child[];

/**
 * A template of our own markup. Its values are escaped, in quoted attributes too. Line feeds of the template and the
 * indents after them are not written.
 */
export const markup = (template: TemplateStringsArray, ...values: Child[]): Html => ({
  html: template.map((part, index) => write(values[index - 1]) + part.replace(/\n */g, '')).join(''),
});

/** Several pieces, with our own separator between them. */
export const join = (children: readonly Child[], separator: string): Html => ({
  html: children.map(write).join(separator),
});

/** Our own markup, style or script, unescaped. Never for a string from a report. */
export const trusted = (html: string): Html => ({ html });

/** Long enough for any sentence of ours. */
const maxTextLength = 4000;

function write(child: Child): string {
  if (child === undefined || child === false) return '';
  if (typeof child !== 'object') return forMarkup(String(child), maxTextLength);
  return 'html' in child ? child.html : child.map(write).join('');
}
