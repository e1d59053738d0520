/** A drain whose second eviction a budget refused for 5 s: the run over all pods says so wherever it shows them. */
import { expect, it } from 'vitest';
import { drawPods } from '../../src/output/html/pods.ts';
import { pictureSvg } from '../../src/output/html/timeline.ts';
import { rolloutNumbers } from '../../src/verdict/rollout.ts';
import { manyPodsOutput, podsOf } from '../output/helpers/every-output.ts';

const pods = await podsOf('drain-with-pdb');
const reports = pods.map(({ report }) => report);
const [first, second] = reports.map(({ timeline }) => timeline);
const note = 'first refused for 5.0s by a PodDisruptionBudget';

it('the card names the pod that waited, how long, and for whom', () => {
  const [title] = manyPodsOutput(pods)?.split('\n\n').slice(1) ?? [];
  expect(title?.replace(/\n */g, ' ')).toContain(
    `(Eviction API; ${second?.pod.metadata.name} ${note}; 1 of 2 pods waited)`,
  );
});

it('only the pod that was refused has waited', () => {
  expect(first?.trigger.heldMs ?? 0).toBeLessThan(2000);
  expect(second?.trigger).toMatchObject({ kind: 'eviction-api', note });
  expect(rolloutNumbers('the pods', reports).held).toMatchObject({ pods: 1 });
});

it('the picture begins with the first refusal, and no time before the removal is blank', () => {
  const svg = pictureSvg(drawPods(reports)).html;
  expect(svg).toContain(`${second?.pod.metadata.name}: ${note}`);
  expect(svg).toContain('until the kubelet reported the exit');
});
