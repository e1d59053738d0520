/** The laws of docs/before-and-after.md "What fix may change", each over one generated input. */
import type { KubernetesObject } from '@kubernetes/client-node';
import { expect } from 'vitest';
import { problemsOf } from '../../../src/advice/check-report.ts';
import { editedValue, type Edit } from '../../../src/advice/fix/edit.ts';
import { isProblem, type Problem } from '../../../src/advice/problem.ts';
import { editsOf, remediesFor, type Consent, type Remedy } from '../../../src/advice/remedies.ts';
import { containersThatServe, hookSecondsOf, othersServe } from '../../../src/advice/roles.ts';
import type { Situation } from '../../../src/advice/situation.ts';
import { readSituation } from './situations.ts';

const all: readonly Consent[] = ['replicas', 'strategy'];

interface Decided {
  situation: Situation;
  problems: Problem[];
  remedies: readonly Remedy[];
}

const decided = new WeakMap<readonly KubernetesObject[], Decided>();

/** Once for all laws. */
function decide(objects: readonly KubernetesObject[]): Decided {
  const known = decided.get(objects);
  if (known) return known;
  const situation = readSituation(objects);
  const problems = problemsOf(situation);
  const all = { situation, problems, remedies: remediesFor(situation, problems) };
  decided.set(objects, all);
  return all;
}

/** One thing grows worse through these codes, so that a cap may turn one into another. */
const nameOf = ({ code, container = '' }: Problem): string =>
  `${/^(prestop-cut-off|prestop-heavy|grace-nearly-spent)$/.test(code) ? 'long hook' : code} ${container}`;

const setsField = (edit: Edit, ...names: string[]): boolean => names.includes(String(edit.path.at(-1)));
const isHook = (edit: Edit): boolean => setsField(edit, 'preStop');
const isGrace = ({ podPath }: Situation, edit: Edit): boolean =>
  setsField(edit, 'terminationGracePeriodSeconds') && edit.path.length === podPath.length + 1;

const applied = (objects: readonly KubernetesObject[], edits: readonly Edit[]): KubernetesObject[] =>
  objects.map((object, at) => (at === 0 ? editedValue(object, edits) : object));

export const laws: Readonly<Record<string, (objects: readonly KubernetesObject[]) => void>> = {
  'nothing on top of a signal that is not handled': (objects) => {
    const { situation, problems, remedies } = decide(objects);
    const unhandled = /no-signal-hand|shell-as-pid-1|stop-signal-mismatch/;
    if (!problems.some((one) => isProblem(one) && unhandled.test(one.code))) return;
    expect(editsOf(remedies, all).filter((edit) => isHook(edit) || isGrace(situation, edit))).toEqual([]);
  },
  'a hook only where somebody else can serve meanwhile': (objects) => {
    const { situation, problems, remedies } = decide(objects);
    const isForServing = problems.some(({ code }) => code === 'drain-race' || code === 'prestop-failed');
    if (!isForServing || !problems.some(({ code }) => code === 'drain-race')) return;
    if (othersServe(situation).answer === 'yes') return;
    const serving = new Set(containersThatServe(situation).map(({ path }) => path.join()));
    const hooks = editsOf(remedies, all).filter(isHook);
    expect(hooks.filter(({ path }) => serving.has(path.slice(0, -2).join()))).toEqual([]);
  },
  'what the serving container needs stays up as long': (objects) => {
    const edits = editsOf(decide(objects).remedies, all);
    if (!edits.some(isHook)) return;
    const after = readSituation(applied(objects, edits));
    expect(problemsOf(after).map(({ code }) => code)).not.toContain('companion-stops-first');
  },
  'replicas and strategy only with consent, and never against a reason to be single': (objects) => {
    const { situation, remedies } = decide(objects);
    const beside = ({ path }: Edit): boolean => /^(replicas|strategy|updateStrategy)$/.test(String(path[1]));
    expect(editsOf(remedies).filter(beside)).toEqual([]);
    const { single } = situation.capacity;
    const more = editsOf(remedies, all).filter((edit) => setsField(edit, 'replicas'));
    if (single.length > 0) expect(more).toEqual([]);
    if (single.includes('recreate')) expect(editsOf(remedies, all).filter(beside)).toEqual([]);
  },
  'one number a field, and no remedy makes another finding': (objects) => {
    const { remedies, problems } = decide(objects);
    for (const allowed of [[], all]) {
      const edits = editsOf(remedies, allowed);
      const paths = edits.map(({ path }) => path.join());
      expect(new Set(paths).size).toBe(paths.length);
      const before = new Set(problems.map(nameOf));
      const after = problemsOf(readSituation(applied(objects, edits)));
      expect(after.map(nameOf).filter((one) => !before.has(one))).toEqual([]);
    }
  },
  'check is quiet on what fix has solved': (objects) => {
    const { remedies } = decide(objects);
    const edits = editsOf(remedies, all);
    const patched = remedies.filter((one) => editsOf([one], all).length > 0);
    const solved = new Set(patched.flatMap(({ solves }) => solves.map(nameOf)));
    const after = problemsOf(readSituation(applied(objects, edits))).filter(isProblem);
    expect(after.map(nameOf).filter((one) => solved.has(one))).toEqual([]);
  },
  'a grace period never gets shorter, and stays below what ends the pod earlier': (objects) => {
    const { situation, remedies } = decide(objects);
    const today = situation.specGraceSeconds ?? 30;
    for (const edit of editsOf(remedies, all).filter((one) => isGrace(situation, one))) {
      const seconds = Number(edit.value);
      expect(seconds).toBeGreaterThan(today);
      expect(seconds).toBeLessThanOrEqual(Math.max(today, situation.limits[0]?.seconds ?? Infinity));
    }
  },
  'every problem has a sentence that says what to do or why nothing is done': (objects) => {
    const { problems, remedies } = decide(objects);
    const silent = problems.filter((one) => isProblem(one) && !remedies.some(({ solves }) => solves.includes(one)));
    expect(silent.map(({ code, message }) => `${code}: ${message}`)).toEqual([]);
    for (const { text } of remedies) expect(text).toMatch(/\S{3}/);
  },
  'a hook is never shortened, and no hook of another kind is dropped': (objects) => {
    const { situation, remedies } = decide(objects);
    for (const { path, value } of editsOf(remedies, all).filter(isHook)) {
      const container = situation.containers.find((one) => one.path.join() === path.slice(0, -2).join());
      const hook = container?.hook;
      expect(!hook || hook.kind === 'sleep' || hook.fails !== undefined).toBe(true);
      const { seconds } = (value as { sleep: { seconds: number } }).sleep;
      expect(seconds).toBeGreaterThan(container ? (hookSecondsOf(container) ?? 0) : 0);
    }
  },
};
