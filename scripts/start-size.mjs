// `npm run size`: the minified bytes that a plain trace reads before its DELETE, and their sources (docs/bench.md).
import { fileURLToPath } from 'node:url';
import { startSize } from './bundle.mjs';

const { total, places } = await startSize(fileURLToPath(new URL('..', import.meta.url)));
for (const [place, bytes] of places.filter(([, size]) => size > 1000)) console.log(String(bytes).padStart(8), place);
console.log(String(total).padStart(8), 'bytes in all');
