/** The tables of cases: a new case is a row in one of them. */
import { attached } from './attached.ts';
import { causes } from './causes.ts';
import { ends } from './ends.ts';
import { graces } from './graces.ts';
import { hooks } from './hooks.ts';
import { kubelets } from './kubelets.ts';
import { signs } from './signs.ts';
import { stopSignals } from './stop-signals.ts';
import { traps } from './traps.ts';
import { triggers } from './triggers.ts';
import { walk } from './walk.ts';
import { weaker } from './weaker.ts';

for (const [topic, cases] of Object.entries(triggers)) walk(`the trigger: ${topic}`, cases);
for (const [topic, cases] of Object.entries(traps)) walk(`traps: ${topic}`, cases);
for (const [topic, cases] of Object.entries({
  ...attached,
  ...causes,
  ...ends,
  ...graces,
  ...hooks,
  ...kubelets,
  ...signs,
  ...stopSignals,
  ...weaker,
}))
  walk(topic, cases);
