/** Reconciles the pins of a machine: they get grants, as what the set rolls out does. Every choice is made in plan.ts. */
import { DEFENDER_LEDGERS, MACHINES } from '../../../api/generated/resources.ts';
import type { DefenderLedger, Machine } from '../../../api/generated/types.ts';
import { LEDGER } from '../../../api/names.ts';
import type { ReconcileResult } from '../../../kube/controller/controller.ts';
import { ownValue } from '../../../kube/objects/json.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { pinnedComponents } from '../members/pins.ts';
import { carryOutPins, type PinParts } from './execute.ts';
import { planPins } from './plan.ts';

/** No set has such a name. */
const PREFIX = 'machine/';

/** The key of a machine that has pins: the rest of the keys are sets. One controller writes the entries of both. */
export function pinKeys(machine: Machine): readonly string[] {
  const { name, managedFields } = machine.metadata;
  return managedFields && pinnedComponents(machine).size > 0 ? [`${PREFIX}${name}`] : [];
}

/** Undefined: the key is that of a set. */
export function machineOfKey(key: string): string | undefined {
  return key.startsWith(PREFIX) ? key.slice(PREFIX.length) : undefined;
}

export async function reconcilePins(name: string, parts: PinParts): Promise<ReconcileResult> {
  const { context } = parts;
  const machine = context.view<Machine>(MACHINES).get(name);
  if (!machine) return {};
  const ledger = context.view<DefenderLedger>(DEFENDER_LEDGERS).get(LEDGER)?.spec.grants ?? {};
  const now = context.clock.now();
  const input = { machine, ...optional('ledgerGrant', ownValue(ledger, name)), now };
  return await carryOutPins(planPins(input), input, parts);
}
