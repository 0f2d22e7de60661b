/** Where the machines of a set are, from the views of the process. */
import { REMEDY_OPERATION_JOBS } from '../../../api/generated/resources.ts';
import type {
  LedgerGrant,
  Machine,
  MachineComponentSet,
  RemedyOperationJob,
} from '../../../api/generated/types.ts';
import { agentLease } from '../../../api/machine/agent-lease.ts';
import { parseTime } from '../../../api/machine/node-state.ts';
import type { ReconcileContext } from '../../../kube/controller/reconcile-context.ts';
import { NODES } from '../../../kube/objects/core-kinds.ts';
import { ownValue } from '../../../kube/objects/json.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { batchStart, committedAt, isOfBatch, type OpenBatchStart } from '../machine/batch-start.ts';
import {
  isHolder,
  type MemberState,
  type MembersContext,
  memberState,
  type Patrol,
} from '../machine/member-state.ts';
import { isRefusedRevision, recordOf } from '../revision/history.ts';
import type { RolloutProgress } from '../rollout/input.ts';
import { patrolOf } from './patrol.ts';
import type { RestartWatch } from './restart-watch.ts';

export interface StateParts {
  readonly set: MachineComponentSet;
  readonly progress: RolloutProgress;
  /** The revision that is asked for. Undefined: it cannot be resolved, or the set was deleted. */
  readonly desired?: string;
  readonly grants: Readonly<Record<string, LedgerGrant>>;
  readonly now: Date;
  readonly context: ReconcileContext;
  /** Undefined: nothing in this process observes Pods. */
  readonly restarts?: RestartWatch;
}

export function createStateOf({
  set,
  progress,
  desired,
  grants,
  now,
  context,
  restarts,
}: StateParts): (machine: Machine) => MemberState {
  const { spec, metadata } = set;
  const members: MembersContext = {
    set: metadata.name,
    components: new Set(spec.components.map(({ name }) => name)),
    timeoutSeconds: spec.rollout.machineTimeoutSeconds,
    ...optional('retryToken', spec.retryToken),
    ...optional('openBatch', openBatchOf(progress)),
    ...optional('asked', askedRevisions(spec.retryToken, progress, desired)),
    now,
  };
  const nodes = context.view(NODES);
  const patrol = createPatrol(members, context, restarts);
  return (machine) => {
    const { name } = machine.metadata;
    const observed = { machine, node: nodes.get(name), heardAt: heardAt(machine, context, now) };
    const held = ownValue(grants, name);
    const more = { ...optional('grant', held), ...optional('patrol', patrol(machine, held)) };
    return memberState({ ...observed, ...more }, members);
  };
}

export function openBatchOf({ batch, updateRevision, history }: RolloutProgress): OpenBatchStart | undefined {
  if (!batch || updateRevision === undefined) return undefined;
  const record = recordOf(history, updateRevision);
  const before = record?.result === 'Superseded' ? parseTime(record.startedAt) : undefined;
  const { index, startedAt } = batch;
  return { revision: updateRevision, index, startedAt, ...optional('supersededFrom', before) };
}

/** A revision that was rolled back is not asked for again; to the stable one machines return. */
function askedRevisions(
  retryToken: string | undefined,
  { history, updateRevision }: RolloutProgress,
  desired: string | undefined,
): ReadonlySet<string> | undefined {
  if (desired === undefined) return undefined;
  const updates = [desired, updateRevision ?? desired];
  const stable = history.find(({ result }) => result === 'Completed')?.revision ?? desired;
  const asked = updates.filter((each) => !isRefusedRevision(history, each, retryToken));
  return new Set([...asked, stable]);
}

/** Only over the machines of the open batch: what a batch was proven by is past. */
function createPatrol(
  { set, openBatch }: MembersContext,
  context: ReconcileContext,
  restarts: RestartWatch | undefined,
): (machine: Machine, grant: LedgerGrant | undefined) => Patrol | undefined {
  if (!openBatch) {
    restarts?.forget(set);
    return () => undefined;
  }
  const nodes = context.view(NODES);
  const jobs = Map.groupBy(
    context.view<RemedyOperationJob>(REMEDY_OPERATION_JOBS).list(),
    ({ spec }) => spec.machine.name,
  );
  return (machine, grant) => {
    const { name } = machine.metadata;
    const entries = machine.spec.components.filter(
      ({ assignment }) => assignment?.set === set && isOfBatch(assignment, openBatch),
    );
    const begun = batchStart(machine, entries, openBatch);
    if (!begun) return undefined;
    const { revision, index } = openBatch;
    return patrolOf({
      node: nodes.get(name),
      jobs: jobs.get(name) ?? [],
      restarts:
        restarts?.patrol(name, committedAt(machine, entries), { set, revision, index }) ?? NOT_OBSERVED,
      since: permittedSince(begun, grant, { set, revision }),
    });
  };
}

/** A batch waits for machines: a repair that ended before the update of its machine was permitted is not due to the update. */
function permittedSince(
  begun: Date,
  grant: LedgerGrant | undefined,
  { set, revision }: { readonly set: string; readonly revision: string },
): Date {
  const isOwn = isHolder(grant, set) && grant?.holder.revision === revision;
  const issuedAt = isOwn ? parseTime(grant.issuedAt) : undefined;
  return issuedAt && issuedAt > begun ? issuedAt : begun;
}

const NOT_OBSERVED: Patrol = { result: 'Pass', because: 'no new problem' };

/** Undefined: no agent has a Lease for it. */
function heardAt(machine: Machine, context: ReconcileContext, now: Date): Date | undefined {
  const lease = agentLease(machine, context);
  return lease && new Date(now.getTime() - lease.ageMs);
}
