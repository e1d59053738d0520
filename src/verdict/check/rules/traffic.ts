/** What clients of the pod's Services would notice. */
import { containersOf, hookOf } from '../../../model/pod.ts';
import type { Finding } from '../../../model/report.ts';
import { list, servicesNamed } from '../../words.ts';
import type { Route } from '../endpoints.ts';
import { routesOf } from '../endpoints.ts';
import type { CheckFacts } from '../facts.ts';
import { cite } from '../facts.ts';

export const trafficRules = (facts: CheckFacts): Finding[] => {
  const routes = routesOf(facts).filter(({ ready }) => ready);
  return routes.length === 0
    ? []
    : [...race(facts, routes), ...alone(facts, routes), ...kept(facts, routes), ...unprobed(facts, routes)];
};

const names = (routes: readonly Route[]): string[] => [...new Set(routes.map(({ serviceName }) => serviceName))];
const isKept = ({ service }: Route): boolean => service?.spec.publishNotReadyAddresses === true;

const mains = ({ pod }: CheckFacts) => containersOf(pod).filter(({ kind }) => kind === 'container');

/** Without a hook the stop signal goes out as the endpoint is being unrouted. */
function race(facts: CheckFacts, routes: readonly Route[]): Finding[] {
  const following = routes.filter((route) => !isKept(route));
  const hasty = mains(facts).filter(({ container }) => !hookOf(container));
  if (following.length === 0 || hasty.length === 0) return [];
  const told = names(following);
  return [
    {
      code: 'drain-race',
      severity: 'info',
      message: `forecast: ${list(hasty.map(({ name }) => name))} ${hasty.length === 1 ? 'has' : 'have'} no preStop hook, so the stop signal comes as ${servicesNamed(told)} ${told.length === 1 ? 'is' : 'are'} still being told`,
      advice:
        'A preStop sleep of 5 s keeps the application serving while clients are told; raise terminationGracePeriodSeconds by as much.',
      evidence: cite(facts, 'pod', 'endpointslices'),
    },
  ];
}

function alone(facts: CheckFacts, routes: readonly Route[]): Finding[] {
  return names(routes.filter(({ otherReady }) => otherReady === 0)).map((service) => ({
    code: 'last-endpoint',
    severity: 'warning',
    message: `forecast: Service ${service} has no other ready endpoint`,
    advice:
      'Run at least two replicas, let a rollout surge (maxUnavailable 0), and protect them with a PodDisruptionBudget.',
    evidence: cite(facts, 'endpointslices'),
  }));
}

function kept(facts: CheckFacts, routes: readonly Route[]): Finding[] {
  return names(routes.filter(isKept)).map((service) => ({
    code: 'stays-ready',
    severity: 'info',
    message: `forecast: Service ${service} sets publishNotReadyAddresses: its clients are sent to the pod until it is gone`,
    evidence: cite(facts, 'services'),
  }));
}

function unprobed(facts: CheckFacts, routes: readonly Route[]): Finding[] {
  const blind = mains(facts).filter(({ container }) => !container.readinessProbe);
  if (blind.length === 0) return [];
  const services = names(routes);
  const isOne = services.length === 1;
  return [
    {
      code: 'stays-ready',
      severity: 'info',
      message: `forecast: ${list(blind.map(({ name }) => name))} ${blind.length === 1 ? 'has' : 'have'} no readiness probe: ${servicesNamed(services)} ${isOne ? 'counts' : 'count'} a replacement of the pod as ready as soon as it runs, and never ${isOne ? 'learns' : 'learn'} that it stopped serving`,
      advice: `Give ${blind.length === 1 ? 'it' : 'each of them'} a readiness probe.`,
      evidence: cite(facts, 'pod', 'endpointslices'),
    },
  ];
}
