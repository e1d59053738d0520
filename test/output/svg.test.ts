import { describe, expect, it } from 'vitest';
import { renderRolloutSvg, renderSvg } from '../../src/output/html/svg.ts';
import { rolloutNumbers } from '../../src/verdict/rollout.ts';
import { hostileReport, recorded, reportNamed } from './helpers/reports.ts';
import { parseXml, type Node } from './helpers/strict-xml.ts';

/** What a person reads, from top to bottom: the texts without those that need a pointer. */
const readable = (node: Node): string[] => [
  ...(node.name === 'text' ? [node.text] : []),
  ...node.children.flatMap((child) => (['title', 'style', 'defs'].includes(child.name) ? [] : readable(child))),
];

const all = (node: Node): Node[] => [node, ...node.children.flatMap(all)];

const looksIn = (nodes: readonly Node[], pattern: RegExp): string[] => [
  ...new Set(nodes.flatMap(({ attributes }) => pattern.exec(attributes['class'] ?? '')?.[1] ?? [])),
];

/** The lanes by name, with the looks of their bars. */
const lanesOf = (root: Node): Record<string, string[]> =>
  Object.fromEntries(
    all(root)
      .filter(({ name, attributes }) => name === 'g' && attributes['role'] === 'group')
      .map((lane) => [readable(lane)[0]!, looksIn(all(lane), /^(?:solid|maybe) (.*)/)]),
  );

describe('the SVG report', () => {
  it('shows the answer, a lane for each container with its phases, the grace period and a legend', () => {
    const report = reportNamed('sigkill-after-grace');
    const root = parseXml(renderSvg(report));
    const texts = readable(root);
    const { pod, containers, grace } = report.timeline;
    expect(texts[0]).toContain(pod.metadata.name);
    expect(texts.slice(1, 4).join(' ')).toContain(report.answer.word);
    expect(texts).toContain(`grace period ${grace.effectiveSeconds}s`);
    expect(texts).toContain('✗ SIGKILL');
    for (const { name } of containers) expect(lanesOf(root)[name]).toContain('drain');
    expect(all(root).filter(({ attributes }) => attributes['class'] === 'point kill')).toHaveLength(1);
  });

  it.each(recorded)('is well-formed, explains each colour, and has only finite positions (%s)', (_name, report) => {
    const svg = renderSvg(report);
    const root = parseXml(svg);
    expect(svg).not.toMatch(/NaN|Infinity|undefined|var\(--/);
    const tracks = all(root).filter(({ attributes }) => attributes['class'] === 'track');
    const drawn = looksIn(tracks.flatMap(all), /^(?:solid|maybe) (.*)/);
    expect(looksIn(root.children, /^solid (.*)/).sort()).toEqual(drawn.sort());
    const height = Number(root.attributes['height']);
    for (const { name, attributes } of root.children)
      if (name === 'text') expect(Number(attributes['y'])).toBeLessThan(height);
  });

  it('has a lane for each of several pods', () => {
    const reports = [reportNamed('graceful-exit'), reportNamed('sigkill-after-grace')];
    const lanes = lanesOf(parseXml(renderRolloutSvg(rolloutNumbers('deployment/web', reports), reports)));
    expect(Object.keys(lanes)).toHaveLength(reports.length + 1);
  });

  it('loads nothing, runs nothing, and shows strings of the cluster as text', () => {
    const svg = renderSvg(hostileReport);
    const names = new Set(all(parseXml(svg)).map(({ name }) => name));
    for (const name of ['script', 'image', 'a', 'foreignObject', 'use']) expect(names).not.toContain(name);
    expect(svg).not.toMatch(/ on\w+="|href=|url\((?!#)|@import/);
  });
});
