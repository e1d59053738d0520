/**
 * The report of a check: how an exit would go, by rules over what was read. Pure. It has the shape of every report,
 * without marks and phases; its outcome is a forecast and each of its findings says so.
 */
import { containersOf, controllerOf, isFinished, isRunning, statusesOf } from '../../model/pod.ts';
import { findingCodes, severities } from '../../model/report.ts';
import type { ExitReport, Finding, Outcome } from '../../model/report.ts';
import { printTime } from '../../model/stamps.ts';
import type { Header } from '../../infer/view/header.ts';
import { headerOfPod } from '../../infer/view/header.ts';
import { exitCodeOf } from '../exit-code.ts';
import type { Policy } from '../judge.ts';
import { readyBy, routesOf } from './endpoints.ts';
import type { CheckFacts } from './facts.ts';
import { graceOf, runs } from './facts.ts';
import { gatesOf } from './gates.ts';
import { stoppingRules } from './rules/stopping.ts';
import { surroundingRules } from './rules/surroundings.ts';
import { trafficRules } from './rules/traffic.ts';

/** What is known of the pod, for its first lines. */
export function checkHeader(facts: CheckFacts): Header {
  const routes = routesOf(facts);
  const services = [...new Set(routes.map(({ serviceName }) => serviceName))].sort();
  return headerOfPod(facts.pod, {
    namespace: facts.pod.metadata.namespace ?? '',
    mode: 'check',
    requested: facts.requestedSeconds,
    routes: services.map((service) => {
      const own = routes.filter(({ serviceName }) => serviceName === service);
      const staysReady = own.some((route) => route.service?.spec.publishNotReadyAddresses === true);
      return { service, ready: readyBy(own), staysReady };
    }),
  });
}

export function forecast(facts: CheckFacts, policy: Policy): ExitReport {
  const { pod, at, sources, refused } = facts;
  const { namespace = '', name, uid } = pod.metadata;
  const owner = controllerOf(pod);
  const { nodeName, runtimeClassName } = pod.spec;
  return {
    apiVersion: 'podexit/v1',
    kind: 'ExitReport',
    mode: 'check',
    pod: {
      namespace,
      name,
      uid,
      ...(nodeName === undefined ? {} : { node: nodeName }),
      ...(owner ? { owner: { kind: owner.kind, name: owner.name } } : {}),
      ...(runtimeClassName === undefined ? {} : { runtimeClass: runtimeClassName }),
    },
    grace: {
      requestedSeconds: facts.requestedSeconds,
      specSeconds: pod.spec.terminationGracePeriodSeconds ?? 30,
      effectiveSeconds: graceOf(facts),
      deadline: printTime(at + graceOf(facts) * 1000, 'earlier'),
    },
    trigger: { kind: 'unknown', evidence: [] },
    marks: [],
    phases: [],
    containers: containersOf(pod).map((one) => ({
      name: one.name,
      kind: one.kind,
      outcome: runs(facts, one.name) ? 'unknown' : 'not-running',
    })),
    endpoints: routesOf(facts).map(({ slice, serviceName, addressType, otherReady }) => ({
      service: serviceName,
      slice,
      addressType,
      otherReady,
    })),
    verdict: verdictOf(facts, policy),
    clocks: {},
    assumes: [],
    gaps: refused.map((one) => ({ resource: one.resource, from: printTime(one.at, 'earlier'), cause: 'refused' })),
    observations: [...sources.values()].map((one, index) => ({
      seq: index + 1,
      at: printTime(one.at, 'earlier'),
      what: one.what,
    })),
  };
}

function verdictOf(facts: CheckFacts, policy: Policy): ExitReport['verdict'] {
  const outcome = outcomeOf(facts);
  const findings = (outcome === 'removed' ? [] : [...stoppingRules(facts), ...trafficRules(facts)])
    .concat(surroundingRules(facts))
    .sort((a, b) => weight(a) - weight(b));
  const gates = gatesOf(facts, outcome, findings, policy);
  const gatesFailed = gates.some(({ passed }) => !passed);
  const exitCode = exitCodeOf({ outcomes: [outcome], gatesFailed, warnOnly: policy.warnOnly });
  return { outcome, exitCode, findings, gates };
}

/** What certainly lies ahead; a container that ignores its signal is only likely, so it stays a finding. */
function outcomeOf(facts: CheckFacts): Outcome {
  const grace = graceOf(facts);
  if (isFinished(facts.pod) || !statusesOf(facts.pod).some(({ state }) => isRunning(state))) return 'removed';
  if (grace === 0) return 'forced';
  const mains = containersOf(facts.pod).filter(({ kind, name }) => kind === 'container' && runs(facts, name));
  return mains.some(({ name }) => (facts.hookSeconds.get(name) ?? 0) >= grace) ? 'overran' : 'graceful';
}

/** The gravest first, as in every verdict. */
const weight = ({ severity, code }: Finding): number =>
  -severities.indexOf(severity) * findingCodes.length + findingCodes.indexOf(code);
