/** Rules about what clients of the pod's Services notice. They judge only the containers that serve a target port. */
import { defaultPreStopSeconds } from '../../verdict/shutdown-numbers.ts';
import { at, note, signalled, warning, type CheckFinding } from '../finding.ts';
import { mainContainers } from './surroundings.ts';
import type { ContainerSpec } from '../container-spec.ts';
import type { ServiceSpec } from '../neighbours.ts';
import type { ShutdownSpec } from '../shutdown-spec.ts';

/** Containers that declare a target port; else applications that declare no ports, which is allowed; else the first. */
function servingContainers(spec: ShutdownSpec): ContainerSpec[] {
  const candidates = signalled(spec);
  if (spec.services.length === 0) return [];
  const serving = candidates.filter((container) =>
    spec.services.some(({ targetPorts }) => targetPorts.some((port) => serves(container, port))),
  );
  if (serving.length > 0) return serving;
  const { applications } = mainContainers(spec);
  const undeclared = applications.filter(({ ports }) => ports.length === 0);
  return undeclared.length > 0 ? undeclared : applications.slice(0, 1);
}

const serves = ({ ports }: ContainerSpec, target: ServiceSpec['targetPorts'][number]): boolean =>
  ports.some(({ name, port, protocol }) => [name, port].includes(target.port) && protocol === target.protocol);

const serviceNames = (services: readonly ServiceSpec[]): string =>
  `Service${services.length === 1 ? '' : 's'} ${services.map(({ name }) => name).join(', ')}`;

/** Without a hook, SIGTERM arrives while the endpoint is being removed, before load balancers know about it. */
function drainRace(spec: ShutdownSpec): CheckFinding[] {
  const draining = spec.services.filter((service) => !service.publishNotReadyAddresses);
  if (draining.length === 0) return [];
  const meanwhile = `SIGTERM comes while load balancers behind ${serviceNames(draining)} may still send requests`;
  const advice = `Add a preStop sleep of ${defaultPreStopSeconds}s (adjust it to your load balancer), and raise terminationGracePeriodSeconds by as much.`;
  return servingContainers(spec)
    .filter(({ hook }) => !hook)
    .map((container) =>
      warning('drain-race', `${container.name} has no preStop hook: ${meanwhile}`, { ...at(container), advice }),
    );
}

function unprobed(spec: ShutdownSpec): CheckFinding[] {
  const early = `${serviceNames(spec.services)} counts a replacement as ready as soon as it runs, before it serves`;
  return servingContainers(spec)
    .filter(({ hasReadinessProbe }) => !hasReadinessProbe)
    .map((container) =>
      warning('stays-ready', `${container.name} has no readiness probe: ${early}`, {
        ...at(container),
        advice: 'Give it a readiness probe.',
      }),
    );
}

const publishedNotReady = (spec: ShutdownSpec): CheckFinding[] =>
  spec.services
    .filter((service) => service.publishNotReadyAddresses)
    .map(({ name }) => {
      const message = `Service ${name} sets publishNotReadyAddresses: its clients are sent to the pod until it is gone`;
      return note('stays-ready', message, { path: spec.podPath });
    });

/** A port name must be declared by a container. A port number needs no declaration, so it is not checked. */
const missingPort = (spec: ShutdownSpec): CheckFinding[] =>
  spec.services.flatMap(({ name, targetPorts }) =>
    targetPorts.flatMap((target) => {
      const { port, protocol } = target;
      const isDeclared = spec.containers.some((container) => serves(container, target));
      if (typeof port !== 'string' || isDeclared) return [];
      const message = `Service ${name} targets ${protocol} port "${port}", which no container declares: it has no endpoint for it`;
      return warning('target-port-missing', message, {
        advice: `Name a container's ${protocol} port "${port}", or write its number as targetPort.`,
        path: [...spec.podPath, 'containers'],
      });
    }),
  );

export const trafficRules = [drainRace, unprobed, publishedNotReady, missingPort];
