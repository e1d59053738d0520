/** The first lines: which pod it is, its grace, its containers, who routes to it. */
import type { ContainerReport, ExitReport } from '../model/report.ts';
import type { Header } from '../infer/view/header.ts';
import { leastWait } from './container-state.ts';
import { longestName } from './mark-line.ts';
import type { Pen } from './palette.ts';
import { dim, flow, padTo, piece, plain, textWidth } from './prose.ts';
import type { Piece } from './prose.ts';
import { forTerminal } from './safe-text.ts';

export interface Heading {
  readonly name: string;
  readonly facts: readonly string[];
  readonly rows: readonly { readonly name: string; readonly text: string }[];
}

/**
 * What is known before the deletion. `inForce`: seconds of grace that a deletion under way counts by, whoever asked for
 * it. `day`: of the zero, with the zone that times are told in.
 */
export function headingOf(header: Header, inForce: number | undefined, day: string | undefined): Heading {
  const { namespace, node, runtimeClass, containers, routes, owner } = header;
  return {
    name: header.name,
    facts: factsOf({
      namespace,
      node,
      grace: graceWords(
        header.grace,
        containers.some(({ running }) => running),
        inForce,
      ),
      runtimeClass,
      day,
    }),
    rows: [
      ...containers
        .filter(({ kind, running }) => running || kind === 'container' || kind === 'sidecar')
        .map((one) => ({
          name: one.name,
          text: [
            ...(one.kind === 'container' ? [] : [one.kind]),
            ...(one.running ? [] : ['not running']),
            one.preStop,
            one.readiness,
          ].join(' · '),
        })),
      ...(owner ? [{ name: 'owner', text: `${owner.kind}/${owner.name}` }] : []),
      ...(routes.length > 0 ? [{ name: 'routes', text: routes.map(routeText).join(', ') }] : []),
    ],
  };
}

/** The same from a report, which holds less of the pod's life. */
export function headingOfReport(report: ExitReport, day: string | undefined): Heading {
  const { pod, grace, containers, endpoints } = report;
  const { requestedSeconds, specSeconds, effectiveSeconds } = grace;
  const services = [...new Set(endpoints.map(({ service, slice }) => service ?? slice))];
  const asked = {
    seconds: requestedSeconds ?? specSeconds,
    source: requestedSeconds === null ? 'spec' : 'requested',
  } as const;
  return {
    name: pod.name,
    facts: factsOf({
      ...pod,
      grace: graceWords(
        asked,
        containers.some(({ outcome }) => outcome !== 'not-running'),
        effectiveSeconds,
      ),
      day,
    }),
    rows: [
      ...asSpecified(containers)
        .filter(({ kind, outcome }) => outcome !== 'not-running' || kind === 'container' || kind === 'sidecar')
        .map(({ name, kind, outcome, preStop }) => ({
          name,
          text: [
            ...(kind === 'container' ? [] : [kind]),
            ...(outcome === 'not-running' ? ['not running'] : hookWords(report, preStop)),
          ].join(' · '),
        })),
      ...(pod.owner ? [{ name: 'owner', text: `${pod.owner.kind}/${pod.owner.name}` }] : []),
      ...(services.length > 0 ? [{ name: 'routes', text: services.join(', ') }] : []),
    ],
  };
}

/** As the pod's spec has them; a report has them in the order of their stop, sidecars last and backwards. */
const asSpecified = (containers: readonly ContainerReport[]): ContainerReport[] => {
  const ofKind = (kind: ContainerReport['kind']) => containers.filter((one) => one.kind === kind);
  return [...ofKind('init'), ...ofKind('sidecar').reverse(), ...ofKind('container'), ...ofKind('ephemeral')];
};

/** A forecast holds no hook, since none has run: it says nothing of them here. */
const hookWords = ({ mode }: ExitReport, preStop: ContainerReport['preStop']): string[] =>
  preStop ? [`preStop ${preStop.kind}`] : mode === 'check' ? [] : ['no preStop'];

interface PodFacts {
  namespace: string;
  node?: string | undefined;
  grace: string;
  runtimeClass?: string | undefined;
  day: string | undefined;
}

const factsOf = ({ namespace, node, grace, runtimeClass, day }: PodFacts): string[] => [
  `namespace ${namespace}`,
  node === undefined ? 'not scheduled' : `node ${node}`,
  grace,
  ...(runtimeClass === undefined ? [] : [`runtime class ${runtimeClass}`]),
  ...(day === undefined ? [] : [day]),
];

/** A pod that was already terminating keeps the grace of its first request. Where anything `runs`, it is not killed sooner. */
function graceWords({ seconds, source }: Header['grace'], runs: boolean, inForce = seconds): string {
  const wait = runs ? leastWait(inForce) : undefined;
  const least = wait === undefined ? '' : `, the kubelet waits ${wait}s`;
  return inForce === seconds
    ? `grace ${seconds}s (${source}${least})`
    : `grace ${inForce}s (in force${least}; ${seconds}s ${source})`;
}

function routeText({ service, ready, staysReady }: Header['routes'][number]): string {
  const endpoints = `${ready} ${ready === 1 ? 'endpoint' : 'endpoints'} ready`;
  return `${service} (${endpoints}${staysReady ? ', not-ready ones published' : ''})`;
}

/** Two blank columns before each row, names below one another. */
export function headingLines(pen: Pen, { name, facts, rows }: Heading, width: number): string[] {
  const title: Piece[] = [
    dim('podexit  '),
    piece('strong', forTerminal(name)),
    plain('   '),
    dim(facts.map((fact) => forTerminal(fact)).join(' · ')),
  ];
  const names = rows.map((row) => pen.letters(forTerminal(row.name)));
  const wide = Math.min(width === Infinity ? longestName : 24, Math.max(6, ...names.map((one) => textWidth(one))));
  return [
    ...flow(pen, title, { width, hang: 2 }),
    ...rows.flatMap(({ text }, index) =>
      flow(
        pen,
        [plain('  '), piece('accent', padTo(names[index] ?? '', wide)), plain('  '), plain(forTerminal(text))],
        {
          width,
          hang: wide + 4,
        },
      ),
    ),
  ];
}
