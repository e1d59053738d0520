/** XML as a tree, written out in one place. */
import { forMarkup } from '../safe-text.ts';

export interface XmlElement {
  readonly name: string;
  /** Undefined ones are left out. */
  readonly attributes?: Readonly<Record<string, string | number | undefined>>;
  readonly children?: readonly XmlElement[];
  /** Text instead of children, one entry per line; a line feed inside an entry is not ours and becomes visible. */
  readonly lines?: readonly string[];
}

/** An XML 1.0 document in UTF-8. Whatever the strings hold, it is well-formed. */
export function writeXml(root: XmlElement): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${element(root, '')}`;
}

/** Long enough for any sentence of ours. */
const maxTextLength = 4000;

function element({ name, attributes = {}, children = [], lines }: XmlElement, indent: string): string {
  const present = Object.entries(attributes).filter(([, value]) => value !== undefined);
  const open = `${name}${present.map(([key, value]) => ` ${key}="${forMarkup(String(value), maxTextLength)}"`).join('')}`;
  if (lines) return `${indent}<${open}>${lines.map((line) => forMarkup(line, maxTextLength)).join('\n')}</${name}>\n`;
  if (children.length === 0) return `${indent}<${open}/>\n`;
  return `${indent}<${open}>\n${children.map((child) => element(child, `${indent}  `)).join('')}${indent}</${name}>\n`;
}
