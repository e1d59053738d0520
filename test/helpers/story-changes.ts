/** Changes of a plain story for small cases. */
import { plainStory } from '../sim/plain-story.ts';
import type { AppStory, Story } from '../sim/story.ts';

export const kubelet = (change: Partial<Story['kubelet']>) => ({ kubelet: { ...plainStory().kubelet, ...change } });
export const pod = (change: Partial<Story['pod']>) => ({ pod: { ...plainStory().pod, ...change } });

/** A DELETE of this command, with this grace period. */
export const asked = (graceSeconds: number | null) => ({
  trigger: { kind: 'this-command', atMs: 1240, graceSeconds, uid: false } as const,
});

/** A DELETE of another client without evidence. */
export const anotherClient = { trigger: { kind: 'unknown', atMs: 1240, graceSeconds: null } as const };

export const dies: AppStory = { onSignal: { kind: 'dies' }, lost: false, lines: [] };
