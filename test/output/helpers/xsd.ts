/** The part of XML Schema that jenkins-junit.xsd uses, to validate without xmllint. */
import type { Node } from './strict-xml.ts';

const types: Record<string, RegExp> = {
  'xs:string': /^[^]*$/,
  'xs:integer': /^[+-]?\d+$/,
  'xs:dateTime': /^-?\d{4,}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?$/,
};

/** The problems of a document, one per line. */
export function xsdFaults(schema: Node, document: Node): string[] {
  const patterns = schema.children
    .filter(({ name }) => name === 'xs:simpleType')
    .map(
      (type) =>
        [type.attributes['name']!, new RegExp(`^(?:${find(type, 'xs:pattern')[0]!.attributes['value']!})$`)] as const,
    );
  const elements = new Map(
    schema.children.filter(({ name }) => name === 'xs:element').map((node) => [node.attributes['name']!, node]),
  );
  return check(document, elements, { ...types, ...Object.fromEntries(patterns) });
}

function check(node: Node, elements: Map<string, Node>, known: Record<string, RegExp>): string[] {
  const declared = elements.get(node.name);
  if (declared === undefined) return [`<${node.name}> is not declared`];
  const allowed = new Set(find(declared, 'xs:element').map(({ attributes }) => attributes['ref']));
  const mixed =
    declared.attributes['type'] !== undefined || find(declared, 'xs:complexType')[0]?.attributes['mixed'] === 'true';
  return [
    ...attributeFaults(node, find(declared, 'xs:attribute'), known),
    ...(mixed || node.text.trim() === '' ? [] : [`text in <${node.name}>`]),
    ...node.children.filter(({ name }) => !allowed.has(name)).map(({ name }) => `<${name}> in <${node.name}>`),
    ...node.children.flatMap((child) => check(child, elements, known)),
  ];
}

function attributeFaults(node: Node, declared: Node[], known: Record<string, RegExp>): string[] {
  const byName = new Map(declared.map(({ attributes }) => [attributes['name']!, attributes]));
  const missing = [...byName].filter(([name, { use }]) => use === 'required' && !(name in node.attributes));
  return [
    ...missing.map(([name]) => `<${node.name}> lacks ${name}`),
    ...Object.entries(node.attributes)
      .filter(([name, value]) => !known[byName.get(name)?.['type'] ?? '']?.test(value))
      .map(([name, value]) => `<${node.name} ${name}="${value}">`),
  ];
}

function find(node: Node, name: string): Node[] {
  return node.children.flatMap((child) => [...(child.name === name ? [child] : []), ...find(child, name)]);
}
