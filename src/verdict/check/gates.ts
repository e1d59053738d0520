/** Gates of a check: those of every run, and two that only a check has. */
import type { Finding, Gate, Outcome } from '../../model/report.ts';
import type { Policy } from '../judge.ts';
import { rulingOf } from './eviction.ts';
import type { CheckFacts } from './facts.ts';
import { graceOf } from './facts.ts';

/** The gates that a check alone has, beside those that its caller asks for. */
export type CheckGateName = 'disruption-budget' | 'timeout';

type CheckGate = Gate & { name: CheckGateName };

export function gatesOf(facts: CheckFacts, outcome: Outcome, findings: readonly Finding[], policy: Policy): Gate[] {
  const likely = findings.filter((one) => !isOpen(one));
  const asked = policy.gates.map((gate) => gate(undefined, outcome, likely)).map(measuredOnly);
  return [
    ...asked.map((gate) => tellingOpen(gate, findings.filter(isOpen))),
    ...budgetGate(facts),
    ...timeoutGate(facts, outcome),
  ];
}

/** It may go either way: a gate that failed on it would fail pods that exit in order. */
const isOpen = ({ code, severity }: Finding): boolean => code === 'no-signal-handling' && severity === 'info';

function tellingOpen(gate: Gate, open: readonly Finding[]): Gate {
  const found = gate.passed && open.some(({ code }) => gate.name === `fail-on ${code}`);
  return found ? { ...gate, message: `${gate.message} that is more than possible: it depends on the shell` } : gate;
}

/** Limits on what an exit takes can be neither kept nor broken before there is one. */
function measuredOnly(gate: Gate): Gate {
  if (gate.name.startsWith('fail-on')) return gate;
  return { name: gate.name, passed: true, judged: false, message: 'only an exit can be measured' };
}

/** A budget binds evictions alone; it is told of a deletion too, since a drain would meet it. */
function budgetGate({ pod, budgets, evict }: CheckFacts): CheckGate[] {
  if (budgets.length === 0) return [];
  const { refused, because } = rulingOf(pod, budgets);
  const plain = 'a deletion does not heed it, an eviction (kubectl drain) would be refused';
  const words = [...budgets.map(({ text }) => text), because ?? [], refused && !evict ? plain : []].flat();
  return [{ name: 'disruption-budget', passed: !(refused && evict), message: words.join('; ') }];
}

/** A grace is waited out only where something has to end within it: else the removal takes no time to speak of. */
function timeoutGate(facts: CheckFacts, outcome: Outcome): CheckGate[] {
  const { timeoutSeconds } = facts;
  if (timeoutSeconds === null) return [];
  if (outcome === 'removed')
    return [
      {
        name: 'timeout',
        passed: true,
        message: `nothing runs in the pod, so that --timeout ${timeoutSeconds} s has no grace to outlast`,
      },
    ];
  const grace = graceOf(facts);
  const passed = timeoutSeconds > grace;
  return [
    {
      name: 'timeout',
      passed,
      message: passed
        ? `--timeout ${timeoutSeconds} s is longer than the grace of ${grace} s`
        : `--timeout ${timeoutSeconds} s ends before the grace of ${grace} s: a healthy exit could be called stuck`,
    },
  ];
}
