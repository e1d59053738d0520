/** Files that are imported as text, by esbuild (bundle.mjs) and by Vitest. */
declare module '*?raw' {
  const text: string;
  export default text;
}
