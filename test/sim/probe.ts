/** Readiness probes: they continue during termination (SIGNALS.md §2 S4) and are the only sign of a closed port. */
import type { Container } from './container.ts';
import type { Kubelet } from './kubelet.ts';
import { readinessSeen } from './pod-status.ts';
import type { Process } from './virtual-time.ts';
import { sleep } from './virtual-time.ts';
import type { World } from './world.ts';

export function* probeReadiness(world: World, kubelet: Kubelet, container: Container): Process {
  const { readiness, name } = container.story;
  if (!readiness) return;
  yield sleep(readiness.phaseMs);
  for (let failures = 0; kubelet.probing;) {
    failures = container.listening ? 0 : failures + 1;
    if (failures > 0) {
      kubelet.emit(
        container,
        'Unhealthy',
        `Readiness probe failed: dial tcp ${kubelet.podIp}:8080: connect: connection refused`,
        'Warning',
      );
    }
    if (failures === readiness.failureThreshold) {
      const now = world.clocks.node.seconds(world.time.now);
      kubelet.patch((pod) => readinessSeen(pod, name, false, now, world.api.stamp()));
    }
    yield sleep(readiness.periodMs + world.random.between(0, 1));
  }
}
