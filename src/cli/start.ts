/** The entry of every bundle. No top-level await: CommonJS has none. */
import { main } from './main.ts';
import { processPorts } from './process-ports.ts';

const ports = processPorts();
void ports.stdout.closed.then(() => void (process.exitCode = 141));
void main(process.argv.slice(2), ports).then((code) => void (process.exitCode ??= code));
