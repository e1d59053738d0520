/** What the run is waiting for at a moment, in one phrase. */
import type { ContainerExit } from '../infer/container.ts';
import type { Exit, Conclusions } from '../infer/conclusions.ts';
import type { Trace } from '../model/trace.ts';
import { list } from '../verdict/words.ts';
import type { ContainerState } from './container-state.ts';
import { countdown, killAt, stateOf, stateWords, whole } from './container-state.ts';

export interface WaitingWords {
  /** Names in it are as the cluster wrote them: to be escaped. */
  readonly text: string;
  /** The countdown to the next kill, where one is to come. */
  readonly kill?: string | undefined;
}

/** `now`: ms, client clock. */
export function waitingWords(trace: Trace, { exit, pod, marks }: Conclusions, now: number): WaitingWords {
  if (!exit) return { text: beforeDeletion(trace, pod.metadata.name) };
  const over = trace.gone ?? exit.removal.done ?? exit.removal.finalDelete;
  const trouble = over ? undefined : marks.find(({ name }) => name === 'acknowledged')?.note;
  const troubles = [trace.gone ? undefined : nodeTrouble(trace), trouble];
  const { text, kill } = duringExit(trace, exit, now);
  return { text: [...troubles.filter((one) => one !== undefined), text].join('; '), kill };
}

function beforeDeletion(trace: Trace, name: string): string {
  const sent = trace.requests.at(-1);
  if (sent && !sent.answer) return `waiting for the API server's answer to the ${verbs[sent.verb]}`;
  if (sent) return `waiting for the deletion of ${name} to show`;
  if (trace.began?.value.mode === 'attach') return `waiting for somebody to delete ${name}`;
  return 'opening the watches';
}

const verbs = { delete: 'DELETE', evict: 'eviction' } as const;

function nodeTrouble({ nodeReady, node }: Trace): string | undefined {
  const last = nodeReady.at(-1);
  return last && last.value !== 'True' ? `node ${node?.value.metadata.name ?? ''} NotReady` : undefined;
}

function duringExit(trace: Trace, exit: Exit, now: number): WaitingWords {
  const running = exit.containers.filter((one) => one.ran && !one.exit);
  const waited = withoutContainers(trace, exit, now);
  if (waited !== undefined) return { text: waited };
  return running.length === 0 ? { text: "waiting for the kubelet's report" } : containersWords(running, exit, now);
}

/** What the containers have no part in, or no longer. */
function withoutContainers(trace: Trace, { removal, kubelet, deletion, replacement }: Exit, now: number) {
  if (trace.gone) {
    const forReplacement = trace.began?.value.waitReplacement && !replacement?.ready;
    return forReplacement ? 'waiting for the replacement to be ready' : 'removed; waiting for the last facts';
  }
  if (removal.finalDelete)
    return removal.finalizers.length > 0 ? `finalizers: ${removal.finalizers.join(', ')}` : 'waiting for the removal';
  if (removal.done) return `clean-up, ${whole(now - removal.done.client.hi)}`;
  return kubelet.noticed ? undefined : `waiting for the kubelet, ${whole(now - deletion.accepted.client.hi)}`;
}

/** Containers in the same state are told together; of their kills the next one. */
function containersWords(running: readonly ContainerExit[], exit: Exit, now: number): WaitingWords {
  const groups = new Map<ContainerState['kind'], ContainerExit[]>();
  for (const one of running) {
    const { kind } = stateOf(one, exit, now);
    groups.set(kind, [...(groups.get(kind) ?? []), one]);
  }
  const texts = [...groups.values()].map((group) => {
    const [first] = group;
    const words = first ? stateWords(stateOf(first, exit, now), undefined) : '';
    return `${namesOf(group)} ${group.length > 1 ? words.replace('its turn', 'their turn') : words}`;
  });
  const kills = running.flatMap((one) => killAt(one, exit, now) ?? []).sort((a, b) => a.hi - b.hi);
  return { text: texts.join(', '), kill: countdown(kills[0], now) };
}

const namesOf = (group: readonly ContainerExit[]): string =>
  group.length > 3 ? `${group.length} containers` : list(group.map(({ spec }) => spec.name));
