/** Reads what the text of a case names: edits with their arguments, checks. */
import { ownerOf } from '../../helpers/cases.ts';
import * as views from '../../helpers/views.ts';
import * as attached from './attached.ts';
import * as causes from './causes.ts';
import * as clients from './clients.ts';
import * as doubts from './doubts.ts';
import * as edits from './edits.ts';
import * as ends from './ends.ts';
import * as gates from './gates.ts';
import * as graces from './graces.ts';
import * as hooks from './hooks.ts';
import * as kubelets from './kubelets.ts';
import * as replacements from './replacements.ts';
import * as signs from './signs.ts';
import * as traffic from './traffic.ts';
import * as traps from './traps.ts';
import * as triggers from './triggers.ts';

type Named = (...args: unknown[]) => unknown;

const topics = [
  attached,
  causes,
  clients,
  doubts,
  edits,
  ends,
  gates,
  graces,
  hooks,
  kubelets,
  replacements,
  signs,
  traffic,
  traps,
  triggers,
];
const code = new Map<string, Named>();
for (const one of [{ ownerOf }, views, ...topics])
  for (const [name, value] of Object.entries(one)) {
    if (code.has(name)) throw new Error(`two edits or checks are named ${name}`);
    code.set(name, value as Named);
  }

/** `name` stands for the code of this name, `{ name: argument }` or `{ name: [argument, …] }` for what it returns. */
export function named(text: unknown): unknown {
  if (typeof text === 'string') return code.get(text) ?? text;
  if (Array.isArray(text)) return text.map(named);
  if (typeof text !== 'object' || text === null) return text;
  const fields = Object.entries(text).map(([key, value]) => [key, named(value)] as const);
  const [name = '', argument] = fields[0] ?? [];
  const made = fields.length === 1 ? code.get(name) : undefined;
  return made ? made(...(Array.isArray(argument) ? (argument as unknown[]) : [argument])) : Object.fromEntries(fields);
}

/** The same, for something that must be code. */
export function codeOf(text: unknown): Named {
  const found = named(text);
  if (typeof found !== 'function') throw new Error(`there is no edit or check ${JSON.stringify(text)}`);
  return found as Named;
}
