/** What the entry in bin/ loads. */
import { main } from './main.ts';
import { processPorts } from './process-ports.ts';

const ports = processPorts();
void ports.stdout.closed.then(() => void (process.exitCode = 141));
process.exitCode = await main(process.argv.slice(2), ports).then((code) => process.exitCode ?? code);
