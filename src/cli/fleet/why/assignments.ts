/** Explains why a machine is not at the revision of its sets: exactly one reason for each set, by the code that decides it. Pure. */
import type { LedgerGrant, Machine, MachineComponentSet } from '../../../api/generated/types.ts';
import { versionsText } from '../../../api/machine/versions-text.ts';
import type { CompatRule } from '../../../controllers/componentset/compat/rule.ts';
import { membershipOf } from '../../../controllers/componentset/members/membership.ts';
import type { ClassOf } from '../../../controllers/componentset/observe/classes.ts';
import { type FindComponent, resolveRevision } from '../../../controllers/componentset/revision/resolve.ts';
import { explainWaits } from '../../../controllers/componentset/rollout/waits.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { Explanation } from '../../../rollout/explanation.ts';
import type { Limit } from '../../../rollout/limit.ts';
import { unblockHint } from '../../../views/fleet/unblock.ts';
import { readMember } from '../member.ts';

export interface AssignmentReason {
  readonly set: string;
  /** The revision that the set asks for. */
  readonly revision?: string;
  /** The versions of the components of the set: `web 2.2.0, kubelet 1.36.3`. */
  readonly versions: string;
  /** The reason. Settled: nothing is left to do. */
  readonly reason: string;
  readonly because: string;
  readonly since?: string;
  readonly unblock: string;
}

export interface AssignmentsInput {
  readonly machine: Machine;
  readonly node: KubeObject | undefined;
  readonly grant: LedgerGrant | undefined;
  readonly sets: readonly MachineComponentSet[];
  readonly find: FindComponent;
  readonly classOf: ClassOf;
  /** Default: no component limits where it runs. */
  readonly compatOf?: CompatRule;
  readonly now: Date;
}

/** Explains every set that selects the machine, or that assigned something to it; with a name only that one. */
export function explainAssignments(input: AssignmentsInput, only?: string): readonly AssignmentReason[] {
  return input.sets.flatMap((set) => {
    if (only !== undefined && set.metadata.name !== only) return [];
    const found = explainAssignment(input, set);
    if (!found) return [];
    const { reason, because, blocker, since } = found;
    const hint =
      reason === SETTLED.reason
        ? ''
        : unblockHint({ reason, ...optional('blocker', blocker) }, set.metadata.name);
    return [
      {
        set: set.metadata.name,
        ...optional('revision', set.status?.updateRevision),
        versions: versionsText(set.spec.components),
        reason,
        because,
        ...optional('since', since),
        unblock: hint,
      },
    ];
  });
}

type Dated = Explanation & { readonly since?: string };

const SETTLED: Explanation = { reason: 'Settled', because: 'at the versions of the set, and healthy' };

function explainAssignment(input: AssignmentsInput, set: MachineComponentSet): Dated | undefined {
  const { members, conflicts, left } = membershipOf(set, input.sets, [input.machine]);
  const [conflict] = conflicts;
  if (conflict) return conflict.conflict;
  if (left.length > 0) return LEFT;
  return members.length > 0 ? memberReason(input, set) : undefined;
}

const LEFT: Explanation = {
  reason: 'Left',
  because: 'the set does not select it any more: what it has stays as it is',
};

function memberReason(
  { machine, node, grant, find, classOf, compatOf, now }: AssignmentsInput,
  set: MachineComponentSet,
): Dated {
  const member = readMember({ machine, node, grant }, set, now);
  const desired = resolveRevision(set.spec.components, find);
  const limit = limitOf(set);
  const waits = explainWaits(
    { members: [member], desired, classOf, ...optional('compatOf', compatOf) },
    [],
    limit,
  );
  const found = waits.get(member.name);
  if (!found) return SETTLED;
  return found === limit ? { ...limit, ...optional('since', set.status?.waiting?.since) } : found;
}

/** Returns what the whole set waits for, as its controller reported it; otherwise it is the turn of other machines. */
function limitOf({ status }: MachineComponentSet): Limit {
  const { waiting, batch } = status ?? {};
  if (waiting) {
    const { reason, message = reason, blocker } = waiting;
    return { slots: 0, reason, because: message, ...optional('blocker', blocker) };
  }
  const because =
    batch?.index === undefined
      ? 'no batch was opened yet'
      : `not in batch ${batch.index + 1}, which is in work`;
  return { slots: 0, reason: 'Queued', because };
}
