/** The page's style sheet and script. Each colour scheme names its colours once; text has a contrast of at least 4.5 : 1. */
import { phaseNames } from '../../model/report.ts';
import { looks } from './lanes.ts';

export const light = `
  --paper: #fcfbf9; --card: #ffffff; --ink: #1b1d22; --muted: #5a6070; --line: #e3e0da; --faint: #f1efea;
  --good: #1c6e46; --bad: #b0261c; --doubt: #7d5200; --info: #2a5f9e; --link: #1f5fae; --on-bar: #ffffff;
  --accept: #596780; --notice: #6d7486; --route-removal: #1f6f8b; --prestop: #6d4fa8; --sidecar-wait: #7a7199;
  --drain: #2b62c4; --overtime: #b83227; --cleanup: #74684f; --finalize: #935a22; --replace: #257a54;
  --routed: #cfe0e6; --listed: #e6ecee; --starting: #d5e8dd; --ready: #bcdccb; --on-state: #24363d;
  --answered: #dbe9df; --failed: #b0261c; --own: #a9adb5;`;

export const dark = `
  --paper: #131519; --card: #1a1d22; --ink: #e9e7e2; --muted: #a0a7b4; --line: #2d3138; --faint: #1f2329;
  --good: #63cf9b; --bad: #ff8d82; --doubt: #efb956; --info: #8bbcf2; --link: #8bbcf2; --on-bar: #0f1114;
  --accept: #94a3be; --notice: #a3aabb; --route-removal: #5fb7d3; --prestop: #b79bec; --sidecar-wait: #aba1cc;
  --drain: #7ba7f7; --overtime: #ff8d82; --cleanup: #b8a987; --finalize: #dda065; --replace: #63cf9b;
  --routed: #24414b; --listed: #22292d; --starting: #1f3a2d; --ready: #285540; --on-state: #d6e4e9;
  --answered: #22352a; --failed: #ff8d82; --own: #626873;`;

const bars = looks
  .map(
    (look) => `
.solid.${look}, .maybe.${look} { fill: var(--${look}); }
.track .on-${look} { fill: var(--on-${phaseNames.some((name) => name === look) ? 'bar' : 'state'}); }`,
  )
  .join('');

/** What is drawn in the lanes, here and in an SVG file. */
export const chart = `.between { stroke: var(--line); } .muted { fill: var(--muted); } .name { fill: var(--ink); font-weight: 600; }
.track { overflow: visible; }
.track text { font-size: 11.5px; fill: var(--muted); } .track .label { font-weight: 550; pointer-events: none; }
.tick line { stroke: var(--muted); }
.grace { fill: var(--muted); opacity: 0.45; } .grace-end { stroke: var(--muted); stroke-dasharray: 3 3; }
.kill-line { stroke: var(--bad); stroke-width: 1.5; }
.item { cursor: default; } .maybe { opacity: 0.35; } .target { fill: transparent; }
.whisker { fill: var(--muted); opacity: 0.55; }
.point { stroke: var(--ink); stroke-width: 1.6; fill: var(--card); } .point.observed { fill: var(--ink); }
.point.kill { stroke: var(--bad); stroke-width: 2.6; fill: none; }
.item:hover rect:not(.whisker) { stroke: var(--ink); stroke-width: 1; }
.item:hover .target { stroke: var(--link); stroke-width: 2; }
${bars}`;

export const style = `
:root { color-scheme: light dark; ${light} }
@media (prefers-color-scheme: dark) { :root { ${dark} } }
* { box-sizing: border-box; }
html { background: var(--paper); color: var(--ink); -webkit-text-size-adjust: 100%; }
body { margin: 0 auto; padding: 3rem 1.5rem 4rem; max-width: 76rem; font: 0.9375rem/1.55 ui-sans-serif, system-ui, sans-serif;
  font-variant-numeric: tabular-nums; }
code { font: 0.92em ui-monospace, "SFMono-Regular", Menlo, Consolas, monospace; overflow-wrap: anywhere; }
p, ul, dl, h1, h2 { margin: 0; }
a { color: var(--link); text-underline-offset: 0.2em; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 3px; }
section { margin-top: 3rem; }
h2 { font-size: 1.05rem; font-weight: 650; letter-spacing: -0.005em; margin-bottom: 0.75rem; }
.eyebrow { color: var(--muted); font-size: 0.85rem; letter-spacing: 0.02em; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; line-height: 1.3; font-weight: 680; letter-spacing: -0.015em; margin-top: 0.3rem; overflow-wrap: anywhere; }
h1 .headline { font-weight: 500; }
.good { color: var(--good); } .bad { color: var(--bad); } .doubt { color: var(--doubt); }
.card { margin: 1.75rem 0 0; padding: 1rem 1.25rem; overflow-x: auto; background: var(--card); border: 1px solid var(--line);
  border-radius: 8px; font: 0.85rem/1.5 ui-monospace, "SFMono-Regular", Menlo, Consolas, monospace; }
.fixes { list-style: none; padding: 0; display: grid; gap: 1rem; } .fixes p { max-width: 52rem; margin-bottom: 0.4rem; }
.command { display: flex; gap: 0.75rem; align-items: flex-start; background: var(--faint); border-radius: 8px; padding: 0.7rem 0.9rem; }
.command code { flex: 1; white-space: pre-wrap; user-select: all; }
.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(13.5rem, 1fr)); gap: 1rem 1.5rem; margin-top: 1.75rem;
  padding-top: 1.25rem; border-top: 1px solid var(--line); }
dt { color: var(--muted); font-size: 0.8rem; } dd { margin: 0; font-weight: 550; overflow-wrap: anywhere; }
details { border-top: 1px solid var(--line); } details:last-child { border-bottom: 1px solid var(--line); }
summary { padding: 0.6rem 0; cursor: pointer; font-weight: 550; } details[open] { padding-bottom: 1rem; }
.severity.error { color: var(--bad); } .severity.warning { color: var(--doubt); } .severity.info { color: var(--info); }
button { font: inherit; font-size: 0.9rem; min-width: 2.4rem; padding: 0.25rem 0.6rem; color: var(--ink); background: var(--card);
  border: 1px solid var(--line); border-radius: 6px; cursor: pointer; }
button:hover { border-color: var(--muted); }
.viewport { overflow-x: auto; background: var(--card); border: 1px solid var(--line); border-radius: 8px; }
.lanes { display: block; width: 100%; min-width: 50rem; font-size: 12px; }
${chart}
.scroll { overflow-x: auto; border-top: 1px solid var(--line); }
table { border-collapse: collapse; width: 100%; font-size: 0.9rem; }
th, td { text-align: left; padding: 0.45rem 1.4rem 0.45rem 0; vertical-align: top; border-bottom: 1px solid var(--line); overflow-wrap: break-word;
  max-width: 34rem; min-width: 3rem; }
th { color: var(--muted); font-weight: 500; font-size: 0.8rem; white-space: nowrap; }
.num { text-align: right; white-space: nowrap; }
td code { overflow-wrap: break-word; } tr:target td { background: var(--faint); }
@media (min-width: 761px) { .w44 { display: none; } } @media (max-width: 760px) { .w80 { display: none; } }
@media (max-width: 640px) {
  body { padding: 1.5rem 1rem 3rem; } h1 { font-size: 1.25rem; } .card { font-size: 0.72rem; padding: 0.75rem; } section { margin-top: 2.25rem; }
  .facts { grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 0.75rem 1rem; }
}
@media (prefers-reduced-motion: no-preference) { html { scroll-behavior: smooth; } }
@media print {
  :root { ${light} --paper: #ffffff; } html { font-size: 12px; } body { padding: 0; max-width: none; }
  .copy:is(*), details:not([open]) { display: none; } .viewport, .scroll { overflow: visible; }
  section { margin-top: 1.5rem; } tr, li { break-inside: avoid; } * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
`;

/** Copies a command, or selects it where a page may not copy. */
export const script = `
'use strict';
(() => {
  for (const button of document.querySelectorAll('[data-copy]')) {
    const command = button.previousElementSibling;
    button.addEventListener('click', async () => {
      try {
        await navigator.clipboard.writeText(command.textContent);
        button.textContent = 'Copied';
      } catch {
        getSelection().selectAllChildren(command);
      }
    });
  }
})();
`;
