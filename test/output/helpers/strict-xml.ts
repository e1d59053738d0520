/** A strict reader of XML 1.0 without DTDs. It throws if the text is not well-formed. */
export interface Node {
  name: string;
  attributes: Record<string, string>;
  children: Node[];
  text: string;
}

const legal = /^[\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]*$/u;
const token =
  /<\?xml [^?]*\?>|<!--(?:(?!--)[^])*-->|<\/([\w:.-]+)\s*>|<([\w:.-]+)((?:\s+[\w:.-]+="[^"<]*")*)\s*(\/?)>|[^<]+/gy;

export function parseXml(xml: string): Node {
  if (!legal.test(xml)) throw new Error('a character that XML 1.0 does not allow');
  const top: Node = { name: '', attributes: {}, children: [], text: '' };
  const open = [top];
  token.lastIndex = 0;
  for (let at = 0; at < xml.length; at = token.lastIndex) {
    const found = token.exec(xml);
    if (found === null) throw new Error(`not well-formed at ${at}: ${xml.slice(at, at + 60)}`);
    step(found, open);
  }
  if (open.length !== 1) throw new Error(`<${open.at(-1)!.name}> is never closed`);
  if (top.children.length !== 1 || top.text.trim() !== '')
    throw new Error('there must be one root, and nothing beside it');
  return top.children[0]!;
}

function step([all, closing, opening, attributes, empty]: RegExpExecArray, open: Node[]): void {
  const here = open.at(-1)!;
  if (closing !== undefined) {
    if (open.pop()!.name !== closing) throw new Error(`</${closing}> closes nothing`);
  } else if (opening !== undefined) {
    const node = { name: opening, attributes: readAttributes(attributes ?? ''), children: [], text: '' };
    here.children.push(node);
    if (empty !== '/') open.push(node);
  } else if (!all.startsWith('<')) {
    if (all.includes(']]>')) throw new Error(']]> in text');
    here.text += decode(all);
  }
}

function readAttributes(text: string): Record<string, string> {
  const pairs = [...text.matchAll(/([\w:.-]+)="([^"]*)"/g)].map(([, key, value]) => [key!, decode(value!)] as const);
  if (new Set(pairs.map(([key]) => key)).size !== pairs.length) throw new Error('an attribute stands there twice');
  return Object.fromEntries(pairs);
}

const named: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function decode(text: string): string {
  return text.replace(/&([^;&]*);|&/g, (all, reference: string | undefined) => {
    const code = /^#(\d+)$/.exec(reference ?? '')?.[1];
    const meant = code === undefined ? named[reference ?? ''] : String.fromCodePoint(Number(code));
    if (meant === undefined || !legal.test(meant)) throw new Error(`${all} is no reference`);
    return meant;
  });
}
