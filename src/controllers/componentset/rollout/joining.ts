/** Plans machines that are given a revision outside of the batches: new ones, and those that were held or away. Pure. */

import { versionsText } from '../../../api/machine/versions-text.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { Limit } from '../../../rollout/limit.ts';
import { setClosedLimit } from '../closed-times.ts';
import type { MemberState } from '../machine/member-state.ts';
import { recordOf } from '../revision/history.ts';
import type { Revision } from '../revision/resolve.ts';
import { needsReassignment } from './assignment.ts';
import type { SpreadUse } from './choice/spread.ts';
import type { RolloutAction, RolloutInput, RolloutMode, RolloutProgress } from './input.ts';
import { rollsOut } from './mode.ts';
import { permissionFor } from './permission.ts';
import { type Picked, pickMembers } from './slots.ts';
import { startWait } from './start-wait.ts';

export interface Joining extends Picked {
  /** The names of all joining machines, also of those that have to wait. */
  readonly names: ReadonlySet<string>;
  readonly actions: readonly RolloutAction[];
  /** The closed time that machines in service wait for. */
  readonly closed?: Limit;
}

export interface JoiningContext {
  readonly progress: RolloutProgress;
  readonly mode: RolloutMode;
  /** How many machines that serve may be taken out of service. */
  readonly available: number;
  /** The machines in work by domain. Undefined: domains do not limit. */
  readonly spread?: SpreadUse | undefined;
}

/** Plans the joining machines. A new machine is not a risk to those that serve, so it waits for no batch. */
export function planJoining(input: RolloutInput, context: JoiningContext): Joining {
  const { progress, mode, available, spread } = context;
  const joiners = input.members.flatMap((member) => {
    const assignment = joinerAssignment(input, { progress, mode, member });
    return assignment ? [{ member, ...assignment }] : [];
  });
  const byName = new Map(joiners.map((each) => [each.member.name, each]));
  const startable = joiners.filter(
    ({ member, revision }) => !startWait(member, revision, permissionFor(input, member, revision, false)),
  );
  const closed = mode === 'Revert' ? undefined : setClosedLimit(input, progress);
  // A machine that never served is not disturbed.
  const ready = startable.filter(
    ({ member }) => !closed || !member.isEstablished || wasRolledBack(member, progress),
  );
  const withheld = startable.length > ready.length ? closed : undefined;
  const picked = pickMembers(
    ready.map(({ member }) => member),
    ready.length,
    available,
    { preferUnhealthy: true, spread, ignoresSpread: (member) => wasRolledBack(member, progress) },
  );
  const actions = picked.members.flatMap((member): RolloutAction[] => {
    const { revision, batch } = byName.get(member.name) ?? {};
    if (!revision) return [];
    const permission = permissionFor(input, member, revision, false);
    const because = `${BECAUSE[member.step] ?? 'was not there for'} ${versionsText(revision.components)}`;
    return [
      { type: 'Assign', member, revision, permission, because, ...(batch === undefined ? {} : { batch }) },
    ];
  });
  return { ...picked, names: new Set(byName.keys()), actions, ...optional('closed', withheld) };
}

/** Tells whether the machine was away while the others left a bad revision: a rollback and a revert are not stopped (ROL-33). */
function wasRolledBack({ revision = '' }: MemberState, { history }: RolloutProgress): boolean {
  return recordOf(history, revision)?.result === 'RolledBack';
}

const BECAUSE: Partial<Readonly<Record<MemberState['step'], string>>> = {
  Unassigned: 'joins at',
  Retriable: 'tries again',
};

interface Joiner {
  readonly progress: RolloutProgress;
  readonly mode: RolloutMode;
  readonly member: MemberState;
}

interface JoinerAssignment {
  readonly revision: Revision;
  readonly batch?: number;
}

function joinerAssignment(input: RolloutInput, joiner: Joiner): JoinerAssignment | undefined {
  const { desired } = input;
  const update = 'revision' in desired ? desired.revision : undefined;
  if (update && isRetry(joiner, update)) {
    return { revision: update, ...optional('batch', joiner.member.batch) };
  }
  if (update && joiner.mode === 'Steady') {
    return joiner.member.revision === update.name ? undefined : { revision: update };
  }
  return joiner.member.step === 'Unassigned' ? firstAssignment(input, joiner, update) : undefined;
}

/**
 * Tells whether the machine retries. The agent tries again what it gave up once it has the new retry token, unless the revision
 * has failed again since.
 */
function isRetry({ member, mode, progress }: Joiner, { name }: Revision): boolean {
  if (member.step !== 'Retriable' || member.revision !== name) return false;
  return mode === 'Steady' || (rollsOut(mode) && !progress.stopped);
}

function firstAssignment(
  input: RolloutInput,
  { progress, mode, member }: Joiner,
  update: Revision | undefined,
): JoinerAssignment | undefined {
  if (update && needsReassignment(member, update)) {
    return { revision: update, ...optional('batch', progress.batch?.index) };
  }
  const { stable } = input;
  if (!stable) return undefined;
  return { revision: update && isForTarget(input, progress, mode) ? update : stable };
}

/** Tells whether joining machines get the target revision. One that failed and did not go back is given to no further machine. */
function isForTarget({ set }: RolloutInput, { stopped }: RolloutProgress, mode: RolloutMode): boolean {
  const isTarget = mode === 'Forward' && set.spec.rollout.newMachinePolicy === 'Target';
  return mode === 'Revert' || (isTarget && !stopped);
}
