/** The one thing that proxy-agent.ts does with the package `debug`, which brings no types. */
declare module 'debug' {
  const debug: { log: (...words: unknown[]) => void };
  export default debug;
}
