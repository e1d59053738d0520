/** Where every trace begins. */
import { unknownClock } from './clock.ts';
import type { ContainerFacts, Trace } from './trace.ts';

/** Before anything has been observed. */
export const emptyTrace: Trace = {
  notDeletingAt: -Infinity,
  graces: [],
  requests: [],
  containers: new Map(),
  services: new Map(),
  servicesKnown: false,
  slices: new Map(),
  siblings: new Map(),
  siblingsKnown: false,
  taken: new Set(),
  newcomers: 0,
  owners: new Map(),
  events: [],
  warnings: new Map(),
  normals: new Map(),
  nodeReady: [],
  gaps: [],
  resumes: [],
  refused: [],
  timers: [],
  probes: new Map(),
  clocks: { api: unknownClock, dates: [], node: unknownClock },
  delays: { newest: new Map() },
  nodeSigns: { renewals: [] },
  now: -Infinity,
  lastReceivedAt: -Infinity,
};

/** Of a container of which nothing is known. */
export const noContainerFacts: ContainerFacts = { log: { signalLines: [] } };
