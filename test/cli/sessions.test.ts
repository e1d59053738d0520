/** What runs of the command print, in test/cli/sessions: a new case is a few lines there. */
import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it } from 'vitest';
import { casesIn } from '../helpers/case-file.ts';
import { changeObject, type ObjectChange } from '../helpers/object-changes.ts';
import { clockOfTest, patientClock } from '../helpers/patient-clock.ts';
import type { Serving } from '../helpers/serving.ts';
import { servingPatiently } from '../helpers/serving-patiently.ts';
import type { FaultyOptions } from '../sim/faults/faulty-server.ts';
import { type Answer, serveAnswers } from '../kube/helpers/scripted-api.ts';
import { check, fieldsOfRun, noCluster, type Cluster, type Run } from './helpers/session.ts';

interface Session extends Run {
  /** The recording that a server plays; without one there is no cluster. */
  of?: string;
  with?: Partial<FaultyOptions>;
  /** What happens to its objects before the first run. */
  changes?: ObjectChange[];
  /** The answers of another server, which is the cluster instead. */
  api?: Answer[];
  /** Files in the working folder. */
  files?: Record<string, string>;
  /** Further runs in the same cluster. */
  then?: Run[];
}

const folder = new URL('sessions/', import.meta.url);
const before = process.cwd();

const played = ({ flags, server }: Serving): Cluster => ({
  flags,
  pod: server.pod,
  methods: () => server.requests.map(({ method }) => method),
  asked: () => server.requests.flatMap(({ method, resource }) => [method, resource]),
  deletes: () => server.deletesAccepted,
});

for (const file of readdirSync(folder)) {
  const cases = casesIn<Session>(new URL(file, folder), [
    'of',
    'with',
    'changes',
    'api',
    'files',
    'then',
    ...fieldsOfRun,
  ]);
  describe(file.replace('.yaml', ''), () => {
    it.each(cases)('%s', async (_, { of, with: options = {}, changes = [], api, files = {}, then = [], ...first }) => {
      const at = mkdtempSync(join(tmpdir(), 'podexit-'));
      for (const [name, text] of Object.entries(files)) {
        mkdirSync(dirname(join(at, name)), { recursive: true });
        writeFileSync(join(at, name), text);
      }
      process.chdir(at);
      try {
        const all = async (cluster: Cluster) => {
          for (const one of [first, ...then]) await check(one, at, cluster);
        };
        if (api) await clockOfTest.run(patientClock(10), async () => all(await answering(api)));
        else if (of === undefined) await all(noCluster);
        else
          await servingPatiently(of, options, async (one) => {
            for (const change of changes) await changeObject(one.server, change);
            await all(played(one));
          });
      } finally {
        process.chdir(before);
      }
    });
  });
}

async function answering(answers: Answer[]): Promise<Cluster> {
  const { url, asked } = await serveAnswers(answers);
  const flags = ['-n', 'shop', '--server', url, '--no-config'];
  const methods = () => asked.map(({ method }) => method);
  return { ...noCluster, flags, methods, asked: methods };
}
