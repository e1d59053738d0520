/** Credential plugins on Windows: found as kubectl finds them; batch files run in cmd.exe, without expansion. */
import { describe, expect, it } from 'vitest';
import { windowsLaunch } from '../../src/kube/credentials/windows-launch.ts';

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
    ['with its ending', 'sdk.exe', 'C:\\Program Files\\sdk\\sdk.exe'],
    ['a path without an ending', 'D:\\bin\\plugin', 'D:\\bin\\plugin.exe'],
  ])('%s', (_, command, file) =>
    expect(windowsLaunch(command, ['get', 'a"b'], places(file))).toEqual({
      file: expect.stringMatching(new RegExp(`^${file.replaceAll('\\', '\\\\')}$`, 'i')) as string,
      args: ['get', 'a"b'],
      verbatim: false,
    }),
  );

  it('a program before a batch file of the same name and folder', () =>
    expect(windowsLaunch('sdk', [], places('C:\\Windows\\sdk.cmd', 'C:\\Windows\\sdk.exe')).file).toBe(
      'C:\\Windows\\sdk.exe',
    ));

  it('leaves a command that is not found to the system', () =>
    expect(windowsLaunch('nothing', ['x'], places('.\\nothing.exe', 'nothing.exe'))).toEqual({
      file: 'nothing',
      args: ['x'],
      verbatim: false,
    }));

  it('runs a batch file in cmd.exe, the whole line in quotes', () =>
    expect(windowsLaunch('gke', ['get', 'my token'], places('C:\\Program Files\\sdk\\gke.cmd'))).toEqual({
      file: 'C:\\Windows\\cmd.exe',
      args: ['/d', '/e:on', '/v:off', '/s', '/c', '""C:\\Program Files\\sdk\\gke.cmd" "get" "my token""'],
      verbatim: true,
    }));
});

describe('an argument of a batch file', () => {
  it.each([
    ['a&b|c>d<e^f(g)', '"a&b|c>d<e^f(g)"'],
    ['', '""'],
    ['say "hi"&calc', '"say ""hi""&calc"'],
    ['C:\\folder\\', '"C:\\folder\\\\"'],
    ['a\\"b', '"a\\\\""b"'],
    ['%PATH%', '"%%cd:~,%PATH%%cd:~,%"'],
    ['!PATH!', '"!PATH!"'],
  ])('%s is written %s', (arg, written) => expect(lineOf(arg)).toBe(`""C:\\Windows\\login.cmd" ${written}"`));

  it.each(['a\nb', 'a\rb', 'a\0b'])('%j is refused, with what to do', (arg) =>
    expect(() => lineOf(arg)).toThrow(expect.objectContaining({ code: 'auth.exec-failed' }) as Error),
  );
});
