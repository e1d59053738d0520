/** Reads what the text of a case names: a story, edits with their arguments, patterns. */
import { drains, plainContainer, plainStory } from '../../sim/plain-story.ts';
import type { AppStory, ContainerStory, Story } from '../../sim/story.ts';
import { ownerOf } from '../../helpers/cases.ts';
import * as views from '../../helpers/views.ts';
import * as attached from './attached.ts';
import * as causes from './causes.ts';
import * as clients from './clients.ts';
import * as edits from './edits.ts';
import * as ends from './ends.ts';
import * as gates from './gates.ts';
import * as graces from './graces.ts';
import * as hooks from './hooks.ts';
import * as kubelets from './kubelets.ts';
import * as signs from './signs.ts';
import * as stopSignals from './stop-signals.ts';
import * as traffic from './traffic.ts';
import * as traps from './traps.ts';
import * as triggers from './triggers.ts';
import * as weaker from './weaker.ts';

type Named = (...args: unknown[]) => unknown;

const topics = [
  attached,
  causes,
  clients,
  edits,
  ends,
  gates,
  graces,
  hooks,
  kubelets,
  signs,
  stopSignals,
  traffic,
  traps,
  triggers,
  weaker,
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

/** The differences of a story from the plain one. Parts name only their own differences. */
export type StoryText = { [Part in keyof Story]?: object | number | string } & { laterMs?: number };

/** `laterMs`: how much later in its second the story begins. */
export function storyOf({ laterMs = 0, containers = [{}], services, ...parts }: StoryText): Partial<Story> {
  const plain = plainStory();
  const merged = Object.entries(parts).map(([part, change]) => {
    if (!(part in plain)) throw new Error(`a story has no ${part}`);
    const base = plain[part as keyof Story];
    return [part, isPlainObject(base) && isPlainObject(change) ? { ...base, ...change } : change];
  });
  return {
    ...(Object.fromEntries(merged) as Partial<Story>),
    beganAt: plain.beganAt + laterMs,
    containers: (containers as ContainerText[]).map((one) => plainContainer({ ...one, app: appOf(one.app) })),
    ...(services !== undefined && {
      services: (services as object[]).map((one) => ({ ...(plain.services[0] as Story['services'][number]), ...one })),
    }),
  };
}

const isPlainObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** `drains`: for how long, ms, and with which code it exits. `ignores` and `dies` name its reaction. */
type AppText =
  | 'ignores'
  | 'dies'
  | (Omit<Partial<AppStory>, 'onSignal'> & {
      drains?: number | [number, number];
      onSignal?: 'ignores' | 'dies' | AppStory['onSignal'];
    });
type ContainerText = Partial<Omit<ContainerStory, 'app'>> & { app?: AppText };

function appOf(text: AppText = { drains: 1000 }): AppStory {
  if (typeof text === 'string') return { onSignal: { kind: text }, lost: false, lines: [] };
  const { drains: drained, onSignal = 'dies', ...more } = text;
  const reaction = typeof onSignal === 'string' ? { kind: onSignal } : onSignal;
  if (drained === undefined) return { onSignal: reaction, lost: false, lines: [], ...more };
  const [ms, exitCode = 0] = [drained].flat();
  return { ...drains(ms ?? 0, exitCode), ...(text.onSignal !== undefined && { onSignal: reaction }), ...more };
}
