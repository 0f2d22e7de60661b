/** Decides when a machine is reconciled again though nothing changed. Pure. */
import type { Machine } from '../../api/generated/types.ts';
import { HEARTBEAT_MS, SILENT_MS } from '../../api/machine/heartbeat.ts';
import { firstMoment } from '../../os/dates.ts';
import type { Heartbeat } from './observe.ts';
import type { MachinePlan } from './plan.ts';
import { stallsAt } from './status.ts';

export interface MachineOutcome {
  readonly machine: Machine;
  readonly heartbeat: Heartbeat | undefined;
  readonly infra: { readonly requeueAt?: Date };
  readonly imported?: { readonly requeueAt?: Date };
  readonly power?: { readonly requeueAt?: Date };
  readonly peers?: { readonly requeueAt?: Date };
  readonly plan: Pick<MachinePlan, 'wait' | 'changesAt'>;
  readonly result: { readonly requeueAt?: Date; readonly wait?: MachinePlan['wait'] };
}

export function machineRequeueAt(outcome: MachineOutcome, now: Date): Date | undefined {
  const { infra, imported, power, peers, plan, result } = outcome;
  const late = [silentAt(outcome, now), lateAt(outcome)].filter((at) => at !== undefined && at > now);
  const others = [infra, imported, power, peers, result].map((each) => each?.requeueAt);
  return firstMoment([...late, ...others, plan.changesAt]);
}

/**
 * Returns when the silence of the agent has to be checked again. A Lease that was there first proves nothing. The heartbeat
 * after it does, and triggers no reconcile.
 */
function silentAt({ heartbeat }: MachineOutcome, now: Date): Date | undefined {
  if (!heartbeat) return undefined;
  const leftMs = heartbeat.unreportedMs || SILENT_MS - heartbeat.ageMs + 1;
  const isUnproven = leftMs > 0 && !heartbeat.hasChanged;
  return new Date(+now + (isUnproven ? Math.min(leftMs, HEARTBEAT_MS) : leftMs));
}

function lateAt({ machine, plan, result }: MachineOutcome): Date | undefined {
  const wait = result.wait ?? plan.wait;
  const { waiting } = machine.status ?? {};
  return wait && waiting && stallsAt(machine, wait, waiting);
}
