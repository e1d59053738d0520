/** The live view of the built command on a real pseudo-terminal. */
import { describe, expect, it } from 'vitest';
import { bin } from '../helpers/built.ts';
import { hasPythonWithPty, onPty } from '../helpers/pty.ts';
import { screenOf } from './helpers/screen.ts';

const showCursor = '\u001b[?25h';
const env = { TERM: 'xterm-256color', LC_ALL: 'C.UTF-8', NO_COLOR: '', CI: '' };

const python = hasPythonWithPty();
// Part of the title, so that the list of tests says why this was skipped.
describe
  .skipIf(!python)
  .concurrent(`on a pseudo-terminal${python ? '' : ' (skipped: there is no python3 with pty)'}`, () => {
    it.each([
      ['100x30', '60x20'],
      ['60x20', '120x40'],
    ])('the frame survives a resize from %s to %s, and the card is complete', async (first, second) => {
      const demo = [process.execPath, bin, 'demo', 'graceful-exit'];
      const { before, after, status } = await onPty({ size: first, until: 'SIGTERM at ', resize: second }, demo, env);
      expect(status).toBe(0);
      const [columns = 0, rows = 0] = first.split('x').map(Number);
      const [wide = 0, high = 0] = second.split('x').map(Number);
      const early = await screenOf({ columns, rows }, [{ kind: 'write', text: before }]);
      expect(early.cursorHidden).toBe(true);
      expect(early.window.join('\n')).toMatch(/app +.*0:0\d of 0:\d+ · SIGTERM at \u2248?\+\d/u);
      const { written, cursorHidden, window } = await screenOf({ columns, rows }, [
        { kind: 'write', text: before },
        { kind: 'resize', columns: wide, rows: high },
        { kind: 'write', text: after },
      ]);
      expect(cursorHidden).toBe(false);
      expect(written.filter((line) => /^✔ Graceful {2}app exited/.test(line))).toHaveLength(1);
      expect(written.filter((line) => /^✔ Graceful: app exited/.test(line))).toHaveLength(1);
      expect(written.filter((line) => /\+0\.00 {2}request +delete requested$/.test(line))).toHaveLength(1);
      expect(written.filter((line) => /pod deleted$/.test(line))).toHaveLength(1);
      expect(window.join('\n')).toContain('✔ Graceful: app exited');
      for (const line of window) expect(line.length).toBeLessThanOrEqual(wide);
    });

    it('Ctrl-Z shows the cursor and takes the frame away, and the run goes on afterwards', async () => {
      const demo = [process.execPath, bin, 'demo', 'graceful-exit'];
      // The process is the leader of its session, which no shell could continue: the kernel does not stop it.
      const { before, status } = await onPty({ question: 'svc/', how: 'SIGTSTP' }, demo, env);
      expect(status).toBe(0);
      const untilSuspended = before.slice(0, before.indexOf(showCursor) + showCursor.length);
      const { written, window, cursorHidden } = await screenOf({ columns: 80, rows: 24 }, [
        { kind: 'write', text: untilSuspended },
      ]);
      expect(cursorHidden).toBe(false);
      expect(written.join('\n')).toContain('delete requested');
      expect(window.join('\n')).not.toContain('svc/');
      expect(before.slice(untilSuspended.length)).toContain('svc/');
      expect(before).toContain(' Graceful: app exited ');
    });
  });
