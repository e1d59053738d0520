/** Reports of exits, read from files, and recordings, which are replayed. A value of the wrong type counts as absent. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { PodexitError } from '../../errors.ts';
import { parseJson } from '../../kube/http/body.ts';
import { sumOf } from '../../model/probe-numbers.ts';
import type { ProbeTally } from '../../model/probe-observation.ts';
import { outcomes } from '../../model/report.ts';
import { decodedText, whyUnread } from '../decoded-text.ts';
import { asArray, asNumber, asObject, asString, asText, shape, type JsonObject } from '../../model/observe/read.ts';
import { exitReportOf } from '../../verdict/exit-report.ts';
import type { readRecording } from '../../run/recorded-run.ts';
import { deploymentNameIn } from '../why/gone-pod.ts';

/** A measured length, kept as an interval. Where a single number is needed, `middle` gives it. */
export type Seconds = Record<'min' | 'max', number>;

/** The facts of one exit that are compared with other exits. All lengths are in seconds. */
export type ExitSample = ReturnType<typeof sampleOf>;

/** Replays a recording. Given by the command, because this folder does not run anything. */
export type ReadRecording = typeof readRecording;

/** Every report in the files and folders, one for each pod. Throws `report.unreadable`. */
export async function readReports(names: readonly string[], read: ReadRecording): Promise<JsonObject[]> {
  const found: JsonObject[] = [];
  for (const file of (await Promise.all(names.map(filesOf))).flat())
    if (file.endsWith('.ndjson')) {
      const { reports, probes } = await read(file);
      found.push(...withShared(probes, reports.map(exitReportOf).map(asObject)));
    } else found.push(...(await exitsInDocument(file)));
  return found;
}

/** Pods share the probes of their run: what it lost counts once. */
const withShared = (probes: unknown, exits: JsonObject[]): JsonObject[] =>
  probes ? exits.map((exit, at) => ({ ...exit, traffic: at === 0 ? { probes } : {} })) : exits;

/** For a folder its reports and recordings, by extension; other files are skipped. */
async function filesOf(name: string): Promise<string[]> {
  if (!(await stat(name).catch(refuse(name))).isDirectory()) return [name];
  const files = (await readdir(name)).filter((file) => /\.(nd)?json$/.test(file)).sort();
  if (files.length === 0) throw unreadable(name, 'holds no .json or .ndjson file');
  return files.map((file) => join(name, file));
}

/** The reports in one JSON document. Throws `report.unreadable`. */
async function exitsInDocument(file: string): Promise<JsonObject[]> {
  const document = parseJson(decodedText(await readFile(file).catch(refuse(file))).replace(/^\ufeff/, ''));
  if (document === undefined) throw unreadable(file, 'is not JSON');
  const exits = exitsIn(asObject(document));
  if (exits) return withShared(asObject(document)['probes'], exits);
  throw unreadable(file, 'is not a podexit/v1 report');
}

/** The exits in a document of any podexit/v1 kind that has exits; undefined for all other documents. */
export function exitsIn(document: JsonObject): JsonObject[] | undefined {
  if (document['apiVersion'] !== 'podexit/v1') return undefined;
  if (document['kind'] === 'ExitReport') return [document];
  const list = { RolloutReport: 'exits', ExitReportList: 'items' }[asText(document['kind'])];
  // No limit: figures about only some of the exits would be wrong.
  return list === undefined ? undefined : asArray(document[list], Infinity).map(asObject);
}

const unreadable = (file: string, why: string): PodexitError =>
  new PodexitError('report.unreadable', `${file} ${why}`, 'Name reports: kubectl podexit POD -o json > exit.json');

const refuse = (file: string) => (error: Error) => {
  throw unreadable(file, whyUnread(error));
};

const count = (raw: unknown): number => asNumber(raw) ?? 0;

export function sampleOf(document: JsonObject) {
  const containers = objectsIn(document['containers']);
  const main = containers.filter(({ kind }) => kind === undefined || kind === 'container');
  const verdict = asObject(document['verdict']);
  const imageOf = asObject(asObject(document['run'])['image']);
  const images = Object.entries(imageOf).map(([name, image]) => `${name}=${asString(image)}`);
  return {
    /** `Deployment/checkout`, or `Pod/NAME` for a pod without an owner. */
    workload: ownerNameOf(asObject(document['pod'])),
    namespace: asString(asObject(document['pod'])['namespace']),
    /** Images by container; undefined if the report has none. */
    version: images.length > 0 ? images.sort().join(', ') : undefined,
    outcome: outcomes.find((one) => one === verdict['outcome']) ?? ('unknown' as const),
    graceSeconds: asNumber(asObject(document['grace'])['effectiveSeconds']) ?? 0,
    /** Hook and drain: of the container that took the longest. */
    hook: longest(main.map((one) => one['preStopSeconds'])),
    drain: longest(main.map((one) => one['drainSeconds'])),
    /** From the start of the termination by the kubelet to the last exit. */
    used: between(document, 'stopping', 'exited'),
    total: totalOf(document),
    killed: containers.some(({ outcome: end }) => end === 'killed'),
    requests: totalOfAny(asArray(asObject(document['traffic'])['probes']).map(shape({ sent: count, failed: count }))),
    fix: fixIn(document),
    findings: asArray(verdict['findings']).map(shape({ code: asText, severity: (raw) => asString(raw) ?? 'info' })),
  };
}

/** What the report proposes: the grace period (0: as it is) and whether a hook. Without an owner, the findings say it. */
function fixIn(document: JsonObject) {
  const texts = [
    ...objectsIn(document['fix']).map(({ reason }) => asText(reason)),
    ...objectsIn(asObject(document['verdict'])['findings']).map(({ advice }) => asText(advice)),
  ];
  const reason = texts.find((text) => /^(preStop sleep|grace period) \d+s/i.test(text));
  if (reason === undefined) return undefined;
  const [, seconds] = /grace period (\d+)s/i.exec(reason) ?? [];
  return { graceSeconds: Number(seconds ?? 0), hasHook: reason.startsWith('preStop'), reason };
}

export function ownerNameOf(pod: JsonObject): string {
  const owner = asObject(pod['owner']);
  const [kind, name] = [asString(owner['kind']), asString(owner['name'])];
  if (kind === undefined || name === undefined) return `Pod/${asText(pod['name'])}`;
  const deployment = kind === 'ReplicaSet' ? deploymentNameIn(name) : undefined;
  return deployment === undefined ? `${kind}/${name}` : `Deployment/${deployment}`;
}

function secondsOf(raw: unknown): Seconds | undefined {
  const { min, max } = asObject(raw);
  const [least, most] = [asNumber(min), asNumber(max)];
  return least === undefined || most === undefined || least < 0 || most < least ? undefined : { min: least, max: most };
}

export const middle = ({ min, max }: Seconds): number => (min + max) / 2;

const longest = (all: readonly unknown[]): Seconds | undefined =>
  all.flatMap((one) => secondsOf(one) ?? []).sort((a, b) => middle(b) - middle(a))[0];

function between(document: JsonObject, from: string, to: string): Seconds | undefined {
  const instants = (name: string) =>
    objectsIn(document['marks'])
      .filter((one) => one['name'] === name)
      .map((one) => asObject(one['at']))
      .map((at) => ({ earliest: Date.parse(asText(at['earliest'])), latest: Date.parse(asText(at['latest'])) }))
      .filter(({ earliest, latest }) => Number.isFinite(earliest) && Number.isFinite(latest));
  const [start] = instants(from).sort((a, b) => a.earliest - b.earliest);
  const [end] = instants(to).sort((a, b) => b.latest - a.latest);
  if (!start || !end) return undefined;
  return { min: Math.max(0, end.earliest - start.latest) / 1000, max: Math.max(0, end.latest - start.earliest) / 1000 };
}

function totalOf(document: JsonObject): Seconds | undefined {
  const exact = asNumber(document['totalSeconds']);
  if (exact !== undefined) return { min: exact, max: exact };
  return between(document, 'requested', 'removed') ?? between(document, 'accepted', 'removed');
}

export const totalRequests = (samples: readonly ExitSample[]): ProbeTally | undefined =>
  totalOfAny(samples.flatMap(({ requests }) => requests ?? []));

const totalOfAny = (counts: readonly ProbeTally[]): ProbeTally | undefined =>
  counts.length > 0 ? sumOf(counts) : undefined;

const objectsIn = (list: unknown): JsonObject[] => asArray(list).map(asObject);
