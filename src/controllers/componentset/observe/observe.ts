/** Reads the input of the planner from the views of the process. */
import {
  DEFENDER_LEDGERS,
  MACHINE_COMPONENT_SETS,
  MACHINE_COMPONENTS,
  MACHINES,
} from '../../../api/generated/resources.ts';
import type {
  DefenderLedger,
  LedgerGrant,
  Machine,
  MachineComponent,
  MachineComponentSet,
} from '../../../api/generated/types.ts';
import { LEDGER, NAMESPACE } from '../../../api/names.ts';
import type { ReconcileContext } from '../../../kube/controller/reconcile-context.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { SettledGrants } from '../execute/settled-grants.ts';
import { type MachineConflict, membershipOf } from '../members/membership.ts';
import { type Revision, resolveRevision } from '../revision/resolve.ts';
import { CONTROLLER_REVISIONS, readRevision, storedName } from '../revision/stored-revisions.ts';
import type { RolloutInput, RolloutProgress } from '../rollout/input.ts';
import { progressFromStatus } from '../status/progress.ts';
import { createClassOf } from './classes.ts';
import { createFindVersion } from './component-versions.ts';
import { createStateOf } from './members.ts';
import type { RestartWatch } from './restart-watch.ts';

export interface ObservedRollout {
  readonly input: RolloutInput;
  readonly conflicts: readonly MachineConflict[];
}

/** Holds what is observed beside the views. */
export interface ObservedBeside {
  readonly restarts?: RestartWatch;
  /** Runs of checks that are not recorded yet. */
  readonly runs?: RolloutInput['runs'];
  /** Returns the grants of the ledger as they are, where its view is late. */
  readonly currentGrants?: SettledGrants['current'];
}

export function observeRollout(
  set: MachineComponentSet,
  context: ReconcileContext,
  { restarts, runs = [], currentGrants = (viewed) => viewed }: ObservedBeside = {},
): ObservedRollout {
  const machines = context.view<Machine>(MACHINES);
  const sets = context.view<MachineComponentSet>(MACHINE_COMPONENT_SETS).list();
  const { members, left, conflicts } = membershipOf(set, sets, machines.list());
  const progress = progressFromStatus(set.status);
  const now = context.clock.now();
  const ledger = context.view<DefenderLedger>(DEFENDER_LEDGERS).get(LEDGER);
  const grants = currentGrants(ledger?.spec.grants ?? {});
  const components = context.view<MachineComponent>(MACHINE_COMPONENTS);
  const desired = resolveRevision(set.spec.components, createFindVersion(components));
  const asked = 'revision' in desired ? desired.revision.name : undefined;
  const stateOf = createStateOf({
    set,
    progress,
    grants,
    now,
    context,
    ...optional('desired', asked),
    ...optional('restarts', restarts),
  });
  const input: RolloutInput = {
    set,
    desired,
    ...optional('stable', stableRevision(set, progress, context)),
    progress,
    members: members.map(stateOf),
    left: [...left, ...conflicts.map(({ machine }) => machine)].map(stateOf),
    deleted: deletedMachines(set, grants, (name) => machines.get(name) !== undefined),
    runs,
    classOf: createClassOf((ref) => components.get(ref)),
    now,
  };
  return { input, conflicts };
}

/** The last one that completed. */
function stableRevision(
  set: MachineComponentSet,
  { history }: RolloutProgress,
  context: ReconcileContext,
): Revision | undefined {
  const name = history.find(({ result }) => result === 'Completed')?.revision;
  if (name === undefined) return undefined;
  const stored = context.view(CONTROLLER_REVISIONS).get(`${NAMESPACE}/${storedName(set, name)}`);
  return readRevision(name, stored);
}

function deletedMachines(
  { metadata: { name } }: MachineComponentSet,
  grants: Readonly<Record<string, LedgerGrant>>,
  exists: (machine: string) => boolean,
): RolloutInput['deleted'] {
  return Object.entries(grants).flatMap(([machine, grant]) => {
    const { holder, state } = grant;
    const isOwn = holder.kind === 'MachineComponentSet' && holder.name === name && state !== 'Settled';
    return isOwn && !exists(machine) ? [{ machine, grant }] : [];
  });
}
