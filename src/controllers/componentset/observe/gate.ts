/** Evaluates the checks of a set that this version supports: the health that it observes anyway. Pure. */
import type { Check } from '../../../api/generated/types.ts';
import type { GateResult } from '../../../rollout/checks/gate.ts';

/** Returns the state of the gate. A check that is not evaluated holds the batch. */
export function builtinGate(checks: readonly Check[]): GateResult {
  const other = checks.find(({ builtin }) => !builtin);
  if (!other) return { state: 'Open' };
  const { name } = other;
  const because = `check ${name} is of a type that component sets do not support yet. Use builtin, or remove the check`;
  return { state: 'Inconclusive', check: name, because };
}
