// Says when a line of a watch arrived, in the form of a mark, and does nothing else: `echo.mjs URL NAMESPACE`.
import { get } from 'node:http';
import { performance } from 'node:perf_hooks';

const [url, namespace] = process.argv.slice(2);

get(`${url}/api/v1/namespaces/${namespace}/pods?watch=1`, (answer) => {
  answer.setEncoding('utf8').on('data', (chunk) => {
    // Whole ms, as a mark has it.
    const at = new Date(Math.floor(performance.timeOrigin + performance.now())).toISOString();
    if (chunk.includes('\n')) process.stdout.write(`${JSON.stringify({ type: 'mark', at })}\n`);
  });
});
