/** A program that plays a recording into the live view on the real stdout. Usage: play-live.ts FILE [SPEED]. */
import { timelineOf } from '../../../src/infer/conclude.ts';
import { createLive } from '../../../src/output/text/live.ts';
import { styleOf } from '../../../src/output/palette.ts';
import { openReplay } from '../../../src/run/recorded-run.ts';
import { run } from '../../../src/run/run.ts';
import { tracesOfLog } from '../../../src/run/traces/traces-of-log.ts';
import type { RawObservation } from '../../../src/model/observation.ts';
import { reportOf } from '../../../src/advice/report.ts';

const [file = '', speedText = '1'] = process.argv.slice(2);
const speed = Number(speedText);
const { stdout } = process;
const { rawObservations } = await openReplay(file, () => {});
const rows: RawObservation[] = [];
for await (const rawObservation of rawObservations) rows.push(rawObservation);
const requested = rows.find(({ kind }) => kind === 'requested')?.at ?? rows[0]?.at ?? 0;
const start = Date.now();
/** The time of the recording; it starts a second before the request. */
const now = (): number => requested - 500 + (Date.now() - start) * speed;

const live = createLive({
  write: (text) => void stdout.write(text),
  style: styleOf(
    { color: 'auto', ascii: false },
    { env: process.env, isTty: stdout.isTTY, platform: process.platform },
  ),
  columns: () => stdout.columns,
  rows: () => stdout.rows,
  clock: {
    now,
    setTimeout: (callback, ms) => {
      const timer = setTimeout(callback, ms / speed);
      return () => clearTimeout(timer);
    },
  },
  timestamps: 'relative',
  logs: true,
});
stdout.on('resize', () => live.resize());

async function* paced(): AsyncGenerator<RawObservation> {
  for (const row of rows) {
    const wait = (row.at - now()) / speed;
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    yield row;
  }
}

try {
  const trace = await run({
    traces: tracesOfLog(),
    source: paced(),
    logText: true,
    audience: { step: (trace, observation) => live.step(timelineOf(trace), observation) },
  });
  const report = reportOf(trace);
  if (report) live.end(report);
} finally {
  live.close();
}
