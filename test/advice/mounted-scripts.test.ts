/** Scripts in ConfigMaps: at which paths a container has them, and that a stop is then known as if they were in the command. */
import { expect, it } from 'vitest';
import { configMapTextsOf, mountedScripts } from '../../src/advice/mounted-scripts.ts';
import { problemsOf } from '../../src/advice/check-report.ts';
import { parseManifests } from '../../src/advice/manifests.ts';
import { isProblem } from '../../src/advice/problem.ts';
import { situationsOf } from '../../src/advice/situation.ts';
import { casesIn } from '../helpers/case-file.ts';
import { stopBehaviour } from '../../src/programs/stop-behaviour.ts';

const script = 'trap "exit 0" TERM\nwhile true; do sleep infinity; done\n';
const scripts = configMapTextsOf({
  kind: 'ConfigMap',
  metadata: { name: 'scripts' },
  data: { 'run.sh': script, 'lib.sh': 'true' },
  binaryData: { blob: 'AAAA' },
});
const volume = { name: 'scripts', configMap: { name: 'scripts' } };
const mount = { name: 'scripts', mountPath: '/scripts' };

function pathsOf(volumes: object[], volumeMounts: object[], configMaps = [scripts], namespace?: string): string[] {
  return [...mountedScripts({ volumes }, { volumeMounts }, { configMaps, namespace }).keys()].sort();
}

interface Case {
  volumes: object[];
  mounts: object[];
  has: string[];
}

it.each(casesIn<Case>(new URL('mounted-scripts.yaml', import.meta.url), ['volumes', 'mounts', 'has']))(
  'has %s',
  (_, { volumes, mounts, has }) => expect(pathsOf(volumes, mounts)).toEqual(has),
);

it('takes a ConfigMap of the namespace, and none of two that differ', () => {
  const paths = (configMaps: (typeof scripts)[]) => pathsOf([volume], [mount], configMaps, 'shop');
  expect(paths([{ ...scripts, namespace: 'other' }])).toEqual([]);
  expect(paths([{ ...scripts, namespace: 'shop' }])).toHaveLength(2);
  expect(paths([scripts, { ...scripts }])).toHaveLength(2);
  expect(paths([scripts, { ...scripts, data: { 'run.sh': 'exec app' } }])).toEqual([]);
});

it.each([[['/bin/sh', '/scripts/run.sh']], [['sh', '-c', '/scripts/run.sh']]])(
  '%j stops as if the script were in the command',
  (command) => {
    const image = 'busybox:1';
    const mounted = mountedScripts({ volumes: [volume] }, { volumeMounts: [mount] }, { configMaps: [scripts] });
    const known = stopBehaviour({ command, image, scripts: mounted }, 'SIGTERM', 20);
    const written = stopBehaviour({ command: ['sh', '-c', script], image }, 'SIGTERM', 20);
    expect(known.handles).toBe('no');
    expect(known.handles).toBe(written.handles);
    expect(stopBehaviour({ command, image }, 'SIGTERM', 20).handles).toBe('unknown');
  },
);

it('reads a spec of any form without an error', () => {
  for (const odd of [null, 'x', 7, [null], { length: 1 }])
    expect(mountedScripts({ volumes: odd }, { volumeMounts: odd }, { configMaps: [configMapTextsOf(odd)] }).size).toBe(
      0,
    );
});

it('check judges a script in a ConfigMap of the same input', async () => {
  const pod = {
    kind: 'Pod',
    metadata: { name: 'fixer' },
    spec: {
      terminationGracePeriodSeconds: 20,
      volumes: [volume],
      containers: [{ name: 'app', image: 'busybox:1', command: ['sh', '/scripts/run.sh'], volumeMounts: [mount] }],
    },
  };
  const configMap = { kind: 'ConfigMap', metadata: { name: 'scripts' }, data: { 'run.sh': script } };
  const judge = (objects: object[]) =>
    situationsOf(
      parseManifests(objects.map((one) => JSON.stringify(one)).join('\n---\n'), 'in.yaml').manifests,
    ).flatMap(({ situation }) => problemsOf(situation).filter(isProblem));
  expect(judge([pod]).map(({ code }) => code)).toEqual([]);
  expect(judge([configMap, pod]).map(({ code }) => code)).toContain('shell-as-pid-1');
});
