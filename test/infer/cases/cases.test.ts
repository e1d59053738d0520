/** The tables of cases: a new case is a row in one of them. */
import { traps } from './traps.ts';
import { triggers } from './triggers.ts';
import { walk } from './walk.ts';

for (const [topic, cases] of Object.entries(triggers)) walk(`the trigger: ${topic}`, cases);
for (const [topic, cases] of Object.entries(traps)) walk(`traps: ${topic}`, cases);
