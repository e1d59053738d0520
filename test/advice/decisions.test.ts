/** What is advised for workloads in which a plausible remedy would do harm, or whose problem was easily missed. */
import { expect, it } from 'vitest';
import { problemsOf } from '../../src/advice/check-report.ts';
import { parseManifests } from '../../src/advice/manifests.ts';
import { isProblem } from '../../src/advice/problem.ts';
import { editsOf, remediesFor } from '../../src/advice/remedies.ts';
import { situationsOf } from '../../src/advice/situation.ts';

const service = `
apiVersion: v1
kind: Service
metadata: { name: web }
spec: { selector: { app: web }, ports: [{ port: 80, targetPort: 8080 }] }
---`;

/** A workload behind the Service. `spec`: fields of its spec, and `pod` those of its pod, as YAML in one line each. */
const workload = (kind: string, spec: string, containers: readonly string[], pod = 'volumes: []'): string => `${service}
apiVersion: apps/v1
kind: ${kind}
metadata: { name: web }
spec:
  selector: { matchLabels: { app: web } }
  ${spec}
  template:
    metadata: { labels: { app: web } }
    spec:
      ${pod}
      containers:
${containers.map((one) => `        - { ${one} }`).join('\n')}
`;

const ready = 'ports: [{ containerPort: 8080 }], readinessProbe: { tcpSocket: { port: 8080 } }';
const sleeps5 = 'lifecycle: { preStop: { sleep: { seconds: 5 } } }';
const web = `name: web, image: "example.test/web:1", ${ready}`;

/** Codes of the problems, the fields that `fix` sets without consent with their values, and all that is said. */
function decide(text: string) {
  const [found] = situationsOf(parseManifests(text, 'in.yaml').manifests);
  if (!found) throw new Error('no workload in the manifests');
  const problems = problemsOf(found.situation).filter(isProblem);
  const remedies = remediesFor(found.situation, problems);
  const set = editsOf(remedies).map((edit) => {
    const value = edit.kind === 'set' ? JSON.stringify(edit.value) : edit.kind;
    return `${edit.path.slice(-3).join('.')} ${value}`;
  });
  return { codes: problems.map(({ code }) => code).sort(), set, said: remedies.map((one) => one.text).join('\n') };
}

const sleep = (seconds: number): string => `{"sleep":{"seconds":${seconds}}}`;

it.each<[string, string, string[], string[], RegExp]>([
  [
    'one replica of a StatefulSet gets no hook, as nobody serves meanwhile',
    workload('StatefulSet', 'replicas: 1', [web]),
    ['drain-race', 'last-endpoint'],
    [],
    /no preStop sleep: its StatefulSet starts the next pod only after this one is gone/,
  ],
  [
    'a shell in front of npm gets no init, behind which both end at once, and not only exec, behind which npm does',
    workload('Deployment', 'replicas: 2', [
      `name: web, image: "node:20-slim", ${ready}, command: [sh, -c, "npm start"], ${sleeps5}`,
    ]),
    ['shell-as-pid-1'],
    [],
    /^(?!.*tini).*start the application itself \(`exec`, no wrapper\)/is,
  ],
  [
    'a trap that does not end its shell is not cured by exec',
    workload('Deployment', 'replicas: 2', [
      `${web}, command: [sh, -c, 'trap "echo bye" TERM; while true; do sleep 1; done'], ${sleeps5}`,
    ]),
    ['shell-as-pid-1'],
    [],
    /^(?!.*exec).*let the trap stop the application, wait for it, and exit/is,
  ],
  [
    'a container behind the serving one stays up as long',
    workload('Deployment', 'replicas: 2', [
      web,
      'name: backend, image: "example.test/back:1", ports: [{ containerPort: 9000 }]',
    ]),
    ['drain-race'],
    [
      `0.lifecycle.preStop ${sleep(10)}`,
      `1.lifecycle.preStop ${sleep(10)}`,
      'template.spec.terminationGracePeriodSeconds 50',
    ],
    /preStop sleep 10s on web and backend/,
  ],
  [
    'what a serving container with a hook needs is found to stop first',
    workload('Deployment', 'replicas: 3', [`${web}, ${sleeps5}`, 'name: php, image: "php:8.3-fpm"']),
    ['companion-stops-first'],
    [`1.lifecycle.preStop ${sleep(5)}`, 'template.spec.terminationGracePeriodSeconds 45'],
    /preStop sleep 5s and grace period 45s .*, as long as what needs them$/,
  ],
  [
    'a store is not doubled, and gets no hook',
    workload('Deployment', 'replicas: 1', [`name: redis, image: "redis:7", ${ready}`]),
    ['drain-race', 'last-endpoint'],
    [],
    /a second pod of a store is no copy of the first/,
  ],
  [
    'a pod with a volume of its own is neither doubled nor surged',
    workload(
      'Deployment',
      'replicas: 1',
      [`${web}, ${sleeps5}, volumeMounts: [{ name: d, mountPath: /d }]`],
      'volumes: [{ name: d, persistentVolumeClaim: { claimName: d } }]',
    ),
    ['last-endpoint', 'rollout-blocked'],
    [],
    /use strategy Recreate for a ReadWriteOnce volume/,
  ],
  [
    'strategy Recreate is a decision',
    workload('Deployment', 'strategy: { type: Recreate }', [`${web}, ${sleeps5}`]),
    ['last-endpoint', 'no-ready-endpoint'],
    [],
    /strategy Recreate is a decision: keep it if/,
  ],
  [
    'a DaemonSet with host ports cannot surge',
    workload('DaemonSet', 'updateStrategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } }', [
      `${web.replace('8080 }', '8080, hostPort: 80 }')}, ${sleeps5}`,
    ]),
    ['rollout-blocked'],
    [],
    /the old pod must release the node's ports first: maxUnavailable 1 and maxSurge 0/,
  ],
  [
    'a DaemonSet that may lose all pods at once is found',
    workload('DaemonSet', 'updateStrategy: { rollingUpdate: { maxUnavailable: "100%" } }', [`${web}, ${sleeps5}`]),
    ['no-ready-endpoint'],
    [],
    /maxUnavailable 1 and maxSurge 0/,
  ],
  [
    'an Envoy with the target port is an application, whatever its companion is called',
    workload('Deployment', 'replicas: 3', [
      'name: shutdown, image: "example.test/s:1", ports: [{ containerPort: 9090 }]',
      `name: envoy, image: "envoyproxy/envoy:v1.30", ${ready}, ${sleeps5}`,
    ]),
    ['companion-stops-first'],
    [`0.lifecycle.preStop ${sleep(5)}`, 'template.spec.terminationGracePeriodSeconds 45'],
    /preStop sleep 5s/,
  ],
  [
    'a proxy of a database that only helps becomes a sidecar',
    workload('Deployment', 'replicas: 3', [
      `${web}, ${sleeps5}`,
      'name: sql, image: "gcr.io/cloudsql-docker/gce-proxy:1.33"',
    ]),
    ['classic-sidecar'],
    ['containers.1.restartPolicy "Always"', 'spec.containers.sql move'],
    /move sql to initContainers/,
  ],
  [
    'a hook that stops the server at once must sleep first',
    workload('Deployment', 'replicas: 3', [
      `name: web, image: "nginx:1.27", ${ready}, lifecycle: { preStop: { exec: { command: [nginx, -s, quit] } } }`,
    ]),
    ['drain-race'],
    [],
    /let the preStop hook of web sleep 10s first/,
  ],
  [
    "a load balancer's own delay decides how long a hook must be",
    workload('Deployment', 'replicas: 3', [web], 'readinessGates: [{ conditionType: target-health.elbv2.k8s.aws/x }]'),
    ['drain-race'],
    [],
    /as long as the load balancer's deregistration delay/,
  ],
  [
    'a setting that is longer than the grace period is found',
    workload('Deployment', 'replicas: 3', [`${web}, ${sleeps5}, args: [--shutdown-timeout=60s]`]),
    ['timeout-exceeds-grace'],
    ['template.spec.terminationGracePeriodSeconds 85'],
    /5s preStop \+ 60s to stop \(--shutdown-timeout\) \+ 25%/,
  ],
  [
    'so is the limit that a program has by default',
    workload('Deployment', 'replicas: 3', [
      `name: web, image: "ubuntu/squid:6", command: [squid, -N], ${ready}, ${sleeps5}`,
    ]),
    ['timeout-exceeds-grace'],
    ['template.spec.terminationGracePeriodSeconds 50'],
    /31\.5s to stop \(default of squid, shutdown_lifetime\)/,
  ],
  [
    'a trap that waits for a sleep in the foreground is none, and nothing comes on top of it',
    workload('Deployment', 'replicas: 2', [
      `${web}, command: [sh, -ce, "trap 'exit 0' TERM; while true; do sleep 60; done"]`,
    ]),
    ['drain-race', 'shell-as-pid-1'],
    [],
    /^sleep in the background and wait for it: `sleep 60 & wait \$!`/,
  ],
])('%s', (_, text, codes, set, said) => {
  const decided = decide(text);
  expect(decided).toMatchObject({ codes, set });
  expect(decided.said).toMatch(said);
});
