// Prints each line of a watch that arrives, and does nothing else: `echo.mjs URL NAMESPACE`.
import { get } from 'node:http';

const [url, namespace] = process.argv.slice(2);

get(`${url}/api/v1/namespaces/${namespace}/pods?watch=1`, (answer) => {
  answer.setEncoding('utf8').on('data', (chunk) => {
    const version = /"resourceVersion":"\d+"/.exec(chunk)?.[0];
    if (version) process.stdout.write(`${version}\n`);
  });
});
