/** The report of one exit with its remedies: what every format prints. Pure. */
import { asObject } from '../model/observe/read.ts';
import type { Trace } from '../model/trace.ts';
import type { Policy } from '../verdict/policy.ts';
import { judgedExit, type Report } from '../verdict/report.ts';
import type { Problem } from './problem.ts';
import { editedValue, strategicPatch, type Edit } from './fix/edit.ts';
import { adviceFor, remediesFor, type Remedy } from './remedies.ts';
import { templatePaths, type Situation } from './situation.ts';
import { exitAdvice, problemsOfExit, situationOfTrace } from './trace-situation.ts';

/** Undefined until the pod has been seen. */
export function reportOf(trace: Trace, policy: Policy = { gates: [], warnOnly: false }): Report | undefined {
  const judged = judgedExit(trace, policy);
  if (!judged) return undefined;
  const { timeline, answer } = judged;
  const advised = judged.verdict.findings.map((one) => ({ ...one, advice: one.advice ?? exitAdvice(judged, one) }));
  const verdict = { ...judged.verdict, findings: advised };
  const situation = situationOfTrace(trace, timeline);
  const isCause = ({ code, container }: Problem): boolean =>
    code === answer.cause?.code && (answer.cause.container === undefined || answer.cause.container === container);
  // What only a person can do is said of the cause of the exit and of its signal; the rest is in the findings.
  const problems = problemsOfExit({ timeline, verdict }).flatMap((one): Problem[] => {
    if (one.advice === undefined) return [one];
    return one.code === 'no-signal-handling' || isCause(one) ? [{ ...one, severity: 'warning' }] : [];
  });
  const remedies = remediesFor(situation, problems);
  const findings = advised.map((finding) => {
    const isAbout = ({ code, container }: Problem): boolean => code === finding.code && container === finding.container;
    const solved = remedies.flatMap(({ solves }) => solves).find(isAbout);
    return { ...finding, advice: finding.advice ?? (solved && adviceFor(solved, remedies)) };
  });
  const fix = printed(situation, remedies, isCause);
  const isSaid = answer.why !== undefined && fix.advice.some((text) => text.includes(answer.why ?? ''));
  return {
    ...judged,
    verdict: { ...verdict, findings },
    answer: { ...answer, ...fix, why: isSaid ? undefined : answer.why },
  };
}

/** Sentences for a person, that about the cause first, and the patch of the rest if the workload has a template to patch. */
function printed(situation: Situation, remedies: readonly Remedy[], isCause: (one: Problem) => boolean) {
  const patches = remedies.filter(({ edits, after, consent }) => edits.length > 0 && !after && !consent);
  const left = remedies.filter((one) => !patches.includes(one));
  const isAboutCause = ({ solves, after }: Remedy): boolean => !after && solves.some(isCause);
  left.sort((a, b) => Number(isAboutCause(b)) - Number(isAboutCause(a)));
  const advice = [...new Set(left.map(({ text, after }) => (after ? `after that: ${text}` : text)))];
  const { kind, name, namespace = 'default' } = situation.subject;
  const reason = patches.map(({ text }) => text).join('; ');
  if (patches.length === 0) return { advice, fix: [] };
  // Names come from the cluster and go into a shell command, so only valid Kubernetes names are accepted.
  const inWords = `in its manifest: ${reason}`;
  if (!Object.hasOwn(templatePaths, kind) || !/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name))
    return { advice: patches.some(isAboutCause) ? [inWords, ...advice] : [...advice, inWords], fix: [] };
  const edits = patches.flatMap((one) => one.edits);
  const patch = patchOf(situation, edits);
  const json = JSON.stringify(patch).replaceAll("'", `'\\''`);
  const where = /^[-a-z0-9]+$/.test(namespace) ? ` -n ${namespace}` : '';
  const command = `kubectl patch ${kind.toLowerCase()}/${name}${where} --patch '${json}'`;
  return { advice, fix: [{ reason, target: { kind, name }, patch, command }] };
}

/** Of an object that has only the names of its containers, by their index. */
function patchOf({ containers, podPath }: Situation, edits: readonly Edit[]): object {
  const names = (list: string): object =>
    Object.fromEntries<object>(
      containers.flatMap(({ name, path }) => (path.at(-2) === list ? [[String(path.at(-1)), { name }]] : [])),
    );
  const podSpec = { containers: names('containers'), initContainers: names('initContainers') };
  const object = podPath.reduceRight<object>((inner, key) => ({ [key]: inner }), podSpec);
  return asObject(strategicPatch(object, editedValue(object, edits)));
}
