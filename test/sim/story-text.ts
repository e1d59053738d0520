/** Reads a story that is written as text. */
import { drains, plainContainer, plainStory } from './plain-story.ts';
import type { AppStory, ContainerStory, Story } from './story.ts';

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
