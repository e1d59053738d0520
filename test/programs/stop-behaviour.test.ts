import { expect, it } from 'vitest';
import { stopBehaviour } from '../../src/programs/stop-behaviour.ts';

it('answers unknown for a program that it does not know, and names it', () => {
  const found = stopBehaviour({ command: ['/opt/acme/acme-broker', '--port=80'] }, 'TERM', 30);
  expect(found).toMatchObject({ reachesApp: 'unknown', handles: 'unknown', drains: 'unknown' });
  expect(found.decidedBy).toContain('acme-broker');
  expect(JSON.stringify(found)).not.toContain('--port');
});
