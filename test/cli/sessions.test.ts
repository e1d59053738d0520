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
import type { Printed } from './helpers/in-process.ts';
import { check, fieldsOfRun, noCluster, type Cluster, type Run } from './helpers/session.ts';

interface Session extends Run {
  /** The recording that a server plays; without one there is no cluster. */
  of?: string;
  with?: Partial<FaultyOptions>;
  /** What happens to its objects before the first run. */
  changes?: ObjectChange[];
  /** What happens to them so many ms later. */
  later?: (ObjectChange & { after: number })[];
  /** The answers of another server, which is the cluster instead. */
  api?: Answer[];
  /** Files in the working folder. */
  files?: Record<string, string>;
  /** Further runs in the same cluster. */
  then?: Run[];
}

const folder = new URL('sessions/', import.meta.url);
const workingFolder = process.cwd();

const played = ({ flags, server }: Serving): Cluster => ({
  flags,
  pod: server.pod,
  requests: () => server.requests,
  deletes: () => server.deletesAccepted,
  truths: () => server.truth(),
});

for (const file of readdirSync(folder)) {
  const cases = casesIn<Session>(new URL(file, folder), [
    'of',
    'with',
    'changes',
    'later',
    'api',
    'files',
    'then',
    ...fieldsOfRun,
  ]);
  describe(file.replace('.yaml', ''), () => {
    it.each(cases)(
      '%s',
      async (_, { of, with: options = {}, changes = [], later = [], api, files = {}, then = [], ...first }) => {
        const at = mkdtempSync(join(tmpdir(), 'podexit-'));
        for (const [name, text] of Object.entries(files)) {
          mkdirSync(dirname(join(at, name)), { recursive: true });
          writeFileSync(join(at, name), text);
        }
        process.chdir(at);
        try {
          const all = async (cluster: Cluster) => {
            let before: Printed | undefined;
            for (const one of [first, ...then]) before = await check(one, at, cluster, before);
          };
          if (api) await clockOfTest.run(patientClock(10), async () => all(await answering(api)));
          else if (of === undefined) await all(noCluster);
          else
            await servingPatiently(of, options, async (one) => {
              for (const change of changes) await changeObject(one.server, change);
              const happening = later.map(async ({ after, ...change }) => {
                await one.pause(after);
                await changeObject(one.server, change);
              });
              await all(played(one));
              await Promise.all(happening);
            });
        } finally {
          process.chdir(workingFolder);
        }
      },
    );
  });
}

async function answering(answers: Answer[]): Promise<Cluster> {
  const { url, asked } = await serveAnswers(answers);
  const flags = ['-n', 'shop', '--server', url, '--no-config'];
  return { ...noCluster, flags, requests: () => asked };
}
