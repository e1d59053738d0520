/** What really happened, in the form of the recordings' truth files: nanoseconds of the node's clock. */
import type { Container } from './container.ts';
import type { StopSignal } from './story.ts';
import type { World } from './world.ts';

/** One container that the kubelet asked the runtime to stop. */
export interface Truth {
  pod: string;
  container: string;
  stop_requested: string;
  timeout_s: number;
  stop_signal_sent?: string;
  signal?: string;
  sigkill_sent?: string;
  exited?: string;
  exit_status?: number;
}

/** Signals as the runtime's log names them. */
const signalNames: Record<StopSignal, string> = {
  SIGTERM: 'terminated',
  SIGINT: 'interrupt',
  SIGQUIT: 'quit',
  SIGHUP: 'hangup',
  SIGUSR1: 'user defined signal 1',
};

export function truthOf(world: World, containers: readonly Container[]): Truth[] {
  const print = (at: number): string => world.clocks.node.nanoseconds(at);
  return containers.flatMap(({ story, truth }) => {
    if (truth.requestedAt === undefined) return [];
    const { signalAt, killAt, exitAt, exitCode } = truth;
    return {
      pod: world.story.pod.name,
      container: story.name,
      stop_requested: print(truth.requestedAt),
      timeout_s: truth.timeoutSeconds ?? 0,
      ...(signalAt === undefined ? {} : { stop_signal_sent: print(signalAt), signal: signalNames[story.stopSignal] }),
      ...(killAt === undefined ? {} : { sigkill_sent: print(killAt) }),
      ...(exitAt === undefined ? {} : { exited: print(exitAt), exit_status: exitCode ?? 0 }),
    };
  });
}
