import { describe, expect, it } from 'vitest';
import type { ConnectOptions } from '../../src/kube/connect-options.ts';
import { connectionFlagsOf } from '../../src/kube/connect-options.ts';
import { createRedactor, showUrl } from '../../src/kube/redact.ts';
import { casesIn } from '../helpers/case-file.ts';

interface Case {
  options: Partial<ConnectOptions>;
  words: string;
}

it.each(casesIn<Case>(new URL('suggested-flags.yaml', import.meta.url), ['options', 'words']))(
  'a suggested command has %s',
  (_, { options, words }) => expect(connectionFlagsOf(options)).toBe(words),
);

describe('an address in an error or a log', () => {
  it.each([
    ['http://joe:secret@host/path?token=secret#secret', 'http://host/path'],
    ['http://joe:p@secret@host', 'http://host'],
    ['http://http:/joe:secret@host', 'http://http'],
  ])('shows no password: %s', (url, shown) => expect(showUrl(url)).toBe(shown));

  it('in a message of another program is masked up to the last @ before its path', () =>
    expect(createRedactor().clean('no route to http://joe:p@secret@host/path')).toBe(
      'no route to http://<redacted>@host/path',
    ));
});
