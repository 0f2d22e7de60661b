/** Where a machine of a set is, as a command sees it: by what was read once, without the views of a controller. Pure. */
import type { LedgerGrant, Machine, MachineComponentSet } from '../../api/generated/types.ts';
import { parseTime } from '../../api/machine/node-state.ts';
import { type MemberState, memberState } from '../../controllers/componentset/machine/member-state.ts';
import { conditionOf } from '../../kube/objects/conditions.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { optional } from '../../kube/objects/optional.ts';

export interface ReadMachine {
  readonly machine: Machine;
  readonly node: KubeObject | undefined;
  readonly grant: LedgerGrant | undefined;
}

export function readMember(
  { machine, node, grant }: ReadMachine,
  { metadata, spec }: MachineComponentSet,
  now: Date,
): MemberState {
  return memberState(
    { machine, node, heardAt: heardAt(machine, now), ...optional('grant', grant) },
    {
      set: metadata.name,
      components: new Set(spec.components.map(({ name }) => name)),
      timeoutSeconds: spec.rollout.machineTimeoutSeconds,
      ...optional('retryToken', spec.retryToken),
      now,
    },
  );
}

/** A command sees no heartbeat change: the condition holds what the controllers saw. */
function heardAt({ status }: Machine, now: Date): Date | undefined {
  const ready = conditionOf(status?.conditions, 'AgentReady');
  return ready?.status === 'True' ? now : parseTime(ready?.lastTransitionTime);
}
