/** Credential plugins on Windows are found like in kubectl. Batch files run in cmd.exe, without expansion. */
import { describe, expect, it } from 'vitest';
import { windowsLaunch } from '../../src/kube/credentials/exec-plugin.ts';

const env = {
  PATH: 'C:\\Windows;C:\\Program Files\\sdk',
  PATHEXT: '.COM;.EXE;.BAT;.CMD',
  ComSpec: 'C:\\Windows\\cmd.exe',
};

const places = (...files: string[]) => ({
  variables: env,
  exists: (file: string) => files.some((one) => one.toLowerCase() === file.toLowerCase()),
});

const lineOf = (...args: string[]): string | undefined =>
  windowsLaunch('login', args, places('C:\\Windows\\login.cmd')).args.at(-1);

describe('the started program', () => {
  it.each([
    ['a program in PATH, by its bare name', 'sdk', 'C:\\Program Files\\sdk\\sdk.exe'],
    ['a path without an extension', 'D:\\bin\\plugin', 'D:\\bin\\plugin.exe'],
  ])('%s', (_, command, file) =>
    expect(windowsLaunch(command, ['get', 'a"b'], places(file))).toEqual({
      file: expect.stringMatching(new RegExp(`^${file.replaceAll('\\', '\\\\')}$`, 'i')) as string,
      args: ['get', 'a"b'],
      verbatim: false,
    }),
  );

  it('is an .exe before a batch file with the same name and folder', () =>
    expect(windowsLaunch('sdk', [], places('C:\\Windows\\sdk.cmd', 'C:\\Windows\\sdk.exe')).file).toBe(
      'C:\\Windows\\sdk.exe',
    ));

  it('is left to the system if it is not found', () =>
    expect(windowsLaunch('nothing', ['x'], places('.\\nothing.exe', 'nothing.exe'))).toEqual({
      file: 'nothing',
      args: ['x'],
      verbatim: false,
    }));

  it('is cmd.exe for a batch file, with the whole line in quotes', () =>
    expect(windowsLaunch('gke', ['get', 'my token'], places('C:\\Program Files\\sdk\\gke.cmd'))).toEqual({
      file: 'C:\\Windows\\cmd.exe',
      args: ['/d', '/e:on', '/v:off', '/s', '/c', '""C:\\Program Files\\sdk\\gke.cmd" "get" "my token""'],
      verbatim: true,
    }));
});

describe('an argument of a batch file', () => {
  it.each([
    ['a&b|c>d<e^f(g)', '"a&b|c>d<e^f(g)"'],
    ['say "hi"&calc', '"say ""hi""&calc"'],
    ['C:\\folder\\', '"C:\\folder\\\\"'],
    ['a\\"b', '"a\\\\""b"'],
    ['%PATH%', '"%%cd:~,%PATH%%cd:~,%"'],
  ])('%s is written %s', (arg, written) => expect(lineOf(arg)).toBe(`""C:\\Windows\\login.cmd" ${written}"`));

  it.each(['a\nb', 'a\rb', 'a\0b'])('%j is refused', (arg) =>
    expect(() => lineOf(arg)).toThrow(expect.objectContaining({ code: 'auth.exec-failed' }) as Error),
  );
});
