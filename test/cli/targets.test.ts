/** Which pod a command line names: workloads, selectors, picks, and what is printed if several match. */
import { describe, expect, it } from 'vitest';
import { parseAnyTarget, parseTarget } from '../../src/cli/target.ts';
import { targetText } from '../../src/run/choosing/target.ts';
import { casesIn } from '../helpers/case-file.ts';

type Case = { refused: string } | { kind: string };

describe('words', () => {
  it.each(casesIn<Case>(new URL('targets.yaml', import.meta.url)))('%s', (words, wanted) => {
    const target = () => parseAnyTarget(words.split(' '));
    if ('refused' in wanted) expect(target).toThrow(wanted.refused);
    else expect(target()).toEqual(wanted);
  });

  it('a name and a selector together are refused', () => {
    expect(() => parseTarget(['web'], { selector: 'app=web' })).toThrow(/cannot be given together/);
    expect(parseTarget(['pods'], { selector: 'app=web' })).toEqual({ kind: 'selector', labels: 'app=web', fields: '' });
  });
});

it('a node and a selector together are the pods of the node that match', () => {
  const target = parseAnyTarget(['node/n1'], { selector: 'app=web', fieldSelector: 'metadata.name=web-0' });
  expect(target).toEqual({ kind: 'node', name: 'n1', labels: 'app=web', fields: 'metadata.name=web-0' });
  expect(targetText(target)).toBe('node/n1 -l app=web --field-selector metadata.name=web-0');
  expect(targetText(parseAnyTarget(['node', 'n1']))).toBe('node/n1');
  expect(() => parseAnyTarget(['node/n1'], { selector: '' })).toThrow(/selector is empty/);
});
