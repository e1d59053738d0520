/** The sample gate messages in docs/gates.md, each from a recording. A test compares them with the page. */
import { fileURLToPath } from 'node:url';
import { openReplay } from '../../src/run/recorded-run.ts';
import { run } from '../../src/run/run.ts';
import { tracesOfLog } from '../../src/run/traces/traces.ts';
import type { GateSpec } from '../../src/verdict/policy.ts';
import { reportOf } from '../../src/advice/report.ts';
import { withPart } from './marked-part.ts';

/** Limits that are proven as kept, not proven, or exceeded. */
const samples: readonly (readonly [recording: string, GateSpec])[] = [
  ['graceful-exit', { kind: 'max-duration', ms: 10_000 }],
  ['rolling-update', { kind: 'max-duration', ms: 4000 }],
  ['multi-container', { kind: 'max-grace-used', share: 0.8 }],
  ['graceful-exit', { kind: 'min-drain-lead', ms: 2000 }],
];

/** docs/gates.md with current samples. */
export async function gateDocs(page: string): Promise<string> {
  const lines = await Promise.all(samples.map(([recording, spec]) => sentenceOf(recording, spec)));
  return withPart(page, 'samples', `\`\`\`\n${lines.join('\n')}\n\`\`\``);
}

async function sentenceOf(recording: string, spec: GateSpec): Promise<string> {
  const path = fileURLToPath(new URL(`../../test/recordings/${recording}.ndjson`, import.meta.url));
  const { source: rawObservations } = await openReplay(path, () => {});
  const trace = await run({ traces: tracesOfLog(), source: rawObservations, logText: false });
  const [gate] = reportOf(trace, { gates: [spec], warnOnly: false })?.verdict.gates ?? [];
  return `${gate?.passed ? '✔' : '✖'} ${gate?.name} ${gate?.limit}: ${gate?.message}`;
}
