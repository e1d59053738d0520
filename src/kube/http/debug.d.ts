/** What proxy-agent.ts uses of the package `debug`, which has no types. */
declare module 'debug' {
  const debug: { log: (...words: unknown[]) => void };
  export default debug;
}
