/** Reads the true instants of containers from the log of containerd at level info. */
import { readFileSync } from 'node:fs';
import type { Truth } from '../../src/demo/scenarios.ts';

const line = /^time="(?<time>[^"]+)" level=\w+ msg="(?<message>.*)$/;
const id = String.raw`\\"(?<id>[0-9a-f]{64})\\"`;
const created = String.raw`within sandbox \\"(?<sandbox>\w+)\\" for &ContainerMetadata\{Name:(?<name>[^,]+),`;
const messages = {
  sandbox: new RegExp(String.raw`^RunPodSandbox for .*Uid:(?<uid>[^,]+),.* returns sandbox id ${id}`),
  container: new RegExp(String.raw`^CreateContainer ${created}.* returns container id ${id}`),
  stop_requested: new RegExp(String.raw`^StopContainer for ${id} with timeout`),
  stop_signal_sent: new RegExp(String.raw`^Stop container ${id} with signal (?<signal>[^"\\]+)`),
  sigkill_sent: new RegExp(String.raw`^Kill container ${id}`),
  exited:
    /^received container exit event container_id:\\"(?<id>\w+)\\".*?(?:exit_status:(?<status>\d+) +)?exited_at:\{seconds:(?<seconds>\d+)(?: +nanos:(?<nanos>\d+))?/,
};
type Kind = keyof typeof messages;

/** The latest attempt of each container of a pod. Of repeated stops, the first counts. */
export function truthsOf(file: string, uid: string): Truth[] {
  const sandboxes = new Set<string>();
  const containers = new Map<string, Truth>();
  for (const { kind, time, groups } of entriesOf(file)) {
    if (kind === 'sandbox' && groups['uid'] === uid) sandboxes.add(groups['id'] ?? '');
    if (kind === 'container' && sandboxes.has(groups['sandbox'] ?? ''))
      containers.set(groups['id'] ?? '', { pod: uid, container: groups['name'] ?? '' });
    const truth = containers.get(groups['id'] ?? '');
    if (truth === undefined || kind === 'sandbox' || kind === 'container') continue;
    truth[kind] ??= kind === 'exited' ? exitTime(groups) : time;
    if (kind === 'stop_signal_sent') truth.signal ??= groups['signal'];
    if (kind === 'exited') truth.exit_status = Number(groups['status'] ?? 0);
  }
  return [...new Map([...containers.values()].map((truth) => [truth.container, truth])).values()];
}

function entriesOf(file: string): { kind: Kind; time: string; groups: Record<string, string | undefined> }[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((text) => {
      const { time = '', message = '' } = line.exec(text)?.groups ?? {};
      return (Object.keys(messages) as Kind[]).flatMap((kind) => {
        const groups = messages[kind].exec(message)?.groups;
        return groups === undefined ? [] : [{ kind, time, groups }];
      });
    });
}

const exitTime = ({ seconds, nanos = '0' }: Record<string, string | undefined>): string =>
  `${new Date(Number(seconds) * 1000).toISOString().slice(0, 19)}.${nanos.padStart(9, '0')}Z`;
