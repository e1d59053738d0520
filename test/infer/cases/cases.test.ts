/** The tables of cases: a new case is a row in one of them. */
import { triggers } from './triggers.ts';
import { walk } from './walk.ts';

for (const [topic, cases] of Object.entries(triggers)) walk(`the trigger: ${topic}`, cases);
