/** Which containers of a pod serve a Service: traffic is judged by their exits alone. Pure. */
import type { ContainerTimeline } from '../infer/timeline.ts';
import type { Container, Pod } from '../model/kube.ts';
import type { RuleInput } from './rule-input.ts';
import { mainsIn, ranIn } from './rule-input.ts';

/**
 * Those with one of the Service's target ports. Ports need not be declared: where none fits, the only main container
 * serves; of several nobody knows which (undefined). A Service that was not seen, or recorded without its ports, is
 * taken to be served by the only main container.
 */
export function servingContainers(input: RuleInput, service: string | undefined): ContainerTimeline[] | undefined {
  const targets = targetPorts(input, service);
  const declared = ranIn(input).filter(({ name }) => hasPort(input.timeline.pod, name, targets));
  if (declared.length > 0) return declared;
  const mains = mainsIn(input);
  return mains.length <= 1 ? mains : undefined;
}

const targetPorts = ({ trace }: RuleInput, service: string | undefined): readonly (number | string)[] =>
  (trace.services.get(service ?? '')?.spec.ports ?? []).map(({ port, targetPort = port }) => targetPort);

function hasPort(pod: Pod, name: string, targets: readonly (number | string)[]): boolean {
  const { ports = [] } = containerSpec(pod, name) ?? {};
  return ports.some((one) => targets.includes(one.containerPort) || (one.name && targets.includes(one.name)));
}

export const containerSpec = ({ spec }: Pod, name: string): Container | undefined =>
  [...spec.containers, ...(spec.initContainers ?? []), ...(spec.ephemeralContainers ?? [])].find(
    (one) => one.name === name,
  );
