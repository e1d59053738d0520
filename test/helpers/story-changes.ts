/** What small cases change of a plain story. */
import { plainStory } from '../sim/plain-story.ts';
import type { AppStory, Story } from '../sim/story.ts';

export const kubelet = (change: Partial<Story['kubelet']>) => ({ kubelet: { ...plainStory().kubelet, ...change } });
export const pod = (change: Partial<Story['pod']>) => ({ pod: { ...plainStory().pod, ...change } });

/** Our own DELETE, with this grace. */
export const asked = (graceSeconds: number | null) => ({
  trigger: { kind: 'this-command', atMs: 1240, graceSeconds, uid: false } as const,
});

/** Some client's DELETE that nothing tells of. */
export const somebody = { trigger: { kind: 'unknown', atMs: 1240, graceSeconds: null } as const };

export const dies: AppStory = { onSignal: { kind: 'dies' }, lost: false, lines: [] };
