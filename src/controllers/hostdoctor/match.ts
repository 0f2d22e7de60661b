/** Whether the Machine of an event is the one that it is about. Pure. */
import type { Machine, MaintenanceEvent, MaintenanceEventStatus } from '../../api/generated/types.ts';
import { parseTime } from '../../api/machine/node-state.ts';
import { optional } from '../../kube/objects/optional.ts';

type MatchedMachine = NonNullable<MaintenanceEventStatus['machine']>;

export interface MachineMatch {
  /** As it is recorded: stays when another Machine takes the name. */
  readonly machine?: MatchedMachine;
  readonly mismatch?: { readonly reason: string; readonly message: string };
}

export function matchMachine(event: MaintenanceEvent, machine: Machine | undefined): MachineMatch {
  const recorded = event.status?.machine;
  const mismatch = mismatchOf(event, machine);
  if (mismatch || !machine) return { ...optional('machine', recorded), ...optional('mismatch', mismatch) };
  return { machine: { ...recorded, ...identityOf(machine) } };
}

function mismatchOf(event: MaintenanceEvent, machine: Machine | undefined): MachineMatch['mismatch'] {
  const { spec, metadata } = event;
  if (!machine) {
    return {
      reason: 'MachineNotFound',
      message: `Machine ${spec.machine} does not exist: check spec.machine`,
    };
  }
  const { provider } = machine.spec.infra;
  if (spec.provider !== 'hostdoctor' && spec.provider !== provider) {
    const message = `Machine ${spec.machine} is of provider ${provider}, and the event of ${spec.provider}`;
    return { reason: 'OtherProvider', message };
  }
  const { machine: recorded } = event.status ?? {};
  const isOther = recorded ? !isSame(recorded, identityOf(machine)) : isNewer(machine, metadata);
  if (!isOther) return undefined;
  const message = `Machine ${spec.machine} was recreated since the event was reported: report a new event if it is still meant`;
  return { reason: 'MachineReplaced', message };
}

/** The same instance may get a new Machine. */
function isSame(before: MatchedMachine, now: MatchedMachine): boolean {
  if (before.providerID !== undefined && now.providerID !== undefined) {
    return before.providerID === now.providerID;
  }
  return before.uid === now.uid;
}

function isNewer(machine: Machine, { creationTimestamp }: MaintenanceEvent['metadata']): boolean {
  const [reported, created] = [parseTime(creationTimestamp), parseTime(machine.metadata.creationTimestamp)];
  return reported !== undefined && created !== undefined && created > reported;
}

function identityOf({ metadata, status }: Machine): MatchedMachine {
  return { uid: metadata.uid ?? '', ...optional('providerID', status?.infra?.providerID) };
}
