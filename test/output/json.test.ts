import { describe, expect, it } from 'vitest';
import { PodexitError } from '../../src/errors.ts';
import { renderError, renderJson } from '../../src/output/machine/json.ts';
import { hostile } from './helpers/hostile.ts';
import { reportOfRecording } from '../helpers/recordings.ts';
import { unseenIn } from './helpers/unseen.ts';

const graceful = await reportOfRecording('graceful-exit');

describe('-o json', () => {
  it('is the report, indented by two, with a final newline', () => {
    const text = renderJson(graceful);
    expect(JSON.parse(text)).toEqual(graceful);
    expect(text).toMatch(/^\{\n {2}"apiVersion": "podexit\/v1",\n {2}"kind": "ExitReport",\n/);
    expect(text.endsWith('}\n')).toBe(true);
  });

  it('contains no character that acts on a terminal, and parses to the original strings', () => {
    const text = renderJson(hostile());
    expect(unseenIn(text)).toEqual([]);
    expect(JSON.parse(text)).toEqual(hostile());
  });
});

describe('an error under -o json', () => {
  it('is a document with its code, message and hint', () => {
    const error = new PodexitError('pod.not-found', 'Pod shop/x does not exist.', 'See kubectl get pods -n shop.');
    expect(JSON.parse(renderError(error, 'document'))).toEqual({
      apiVersion: 'podexit/v1',
      kind: 'Error',
      code: 'pod.not-found',
      message: 'Pod shop/x does not exist.',
      hint: 'See kubectl get pods -n shop.',
    });
  });
});
