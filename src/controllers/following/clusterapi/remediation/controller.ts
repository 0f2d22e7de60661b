/**
 * Answers requests of health checks of Cluster API by the ladder of a rule. It starts no job: it tells rules by a condition of our Machine, follows
 * what they do, and hands the machine back when they have ended without success. Every choice is made in plan.ts and hand-back.ts.
 */
import { REMEDIATION_REQUESTED } from '../../../../api/clusterapi/remediation.ts';
import {
  DEFENDER_LEDGERS,
  DEFENDER_POLICIES,
  MACHINES,
  NODE_REMEDIERS,
  REMEDY_OPERATION_JOBS,
} from '../../../../api/generated/resources.ts';
import type {
  DefenderLedger,
  DefenderPolicy,
  Machine,
  NodeRemedier,
  RemedyOperationJob,
} from '../../../../api/generated/types.ts';
import { jobsOn } from '../../../../api/machine/jobs.ts';
import {
  ANNOTATION_HOLD,
  ANNOTATION_OWNER_HOLD,
  LEDGER,
  MANAGER_CLUSTERAPI_REMEDIATION,
  NAMESPACE,
  PRINCIPAL_CLUSTERAPI,
} from '../../../../api/names.ts';
import { type Controller, type ReconcileResult, read } from '../../../../kube/controller/controller.ts';
import { partChanged } from '../../../../kube/controller/predicates.ts';
import type { ReconcileContext } from '../../../../kube/controller/reconcile-context.ts';
import { conditionOf } from '../../../../kube/objects/conditions.ts';
import { NODES } from '../../../../kube/objects/core-kinds.ts';
import { optional } from '../../../../kube/objects/optional.ts';
import type { Log } from '../../../../kube/process/log.ts';
import { firstMoment, secondsAfter } from '../../../../os/dates.ts';
import { followedObject, isFollowed } from '../../../../providers/followed.ts';
import { isUnreadable, ownerKey } from '../../owner.ts';
import type { ForeignMachine } from '../contract.ts';
import type { ForeignSource } from '../observe/foreign-source.ts';
import { carryOutRemediation, type RemediationParts } from './execute.ts';
import type { RemediationInput } from './judge.ts';
import { requestsHere } from './owner.ts';
import { changesAt, planRemediation } from './plan.ts';
import type { RemediationSource } from './source.ts';
import { repairStop } from './stop.ts';

export interface RemediationControllerOptions {
  /** The Machines of Cluster API, by which requests for Nodes of other clusters are left to the kubenode there. */
  readonly theirs: Pick<ForeignSource, 'open' | 'read'>;
  readonly source: RemediationSource;
  /** Reads and hands back Machines of Cluster API, and writes the status of requests: their kinds are in no view. */
  readonly client: RemediationParts['client'];
}

const KEY = 'all';
/** While rules act on many machines, each has many changes. */
const GATHER_MS = 250;
/** A machine is judged again so soon, because Machines of Cluster API are not watched here. */
const HAND_BACK_AGAIN_SECONDS = 15;

export function createRemediationController(options: RemediationControllerOptions): Controller {
  const all = { keys: () => [KEY], gatherMs: GATHER_MS } as const;
  const report = createReadReport();
  let startedAt: Date | undefined;
  return {
    name: 'remediation',
    reads: [
      read(MACHINES, { ...all, changed: machineChanged }),
      read(NODES, {
        ...all,
        changed: partChanged(({ metadata }) => [metadata.annotations?.[ANNOTATION_HOLD]]),
      }),
      read(REMEDY_OPERATION_JOBS, {
        ...all,
        changed: partChanged<RemedyOperationJob>(({ status }) => [status?.outcome?.class]),
      }),
      read(NODE_REMEDIERS, { ...all, changed: partChanged<NodeRemedier>(({ spec }) => [spec.mode]) }),
      read(DEFENDER_POLICIES, {
        ...all,
        changed: partChanged<DefenderPolicy>(({ spec }) => [spec.killSwitch]),
      }),
      read(DEFENDER_LEDGERS, {
        ...all,
        changed: partChanged<DefenderLedger>(({ spec }) => [spec.allowance?.killSwitch]),
      }),
    ],
    triggers: (add) => {
      const leave = [options.source, options.theirs].map((each) => each.open(() => add(KEY)));
      return () => {
        for (const each of leave) each();
      };
    },
    writes: [`Machine.status.conditions[${REMEDIATION_REQUESTED}]`],
    fieldManager: MANAGER_CLUSTERAPI_REMEDIATION,
    serviceAccount: { namespace: NAMESPACE, name: PRINCIPAL_CLUSTERAPI },
    concurrency: 1,
    reconcile: (_, context) => {
      startedAt ??= context.clock.now();
      report(options.source.read(), context.log);
      return reconcile(options, startedAt, context);
    },
  };
}

/** Tells whether a field of a followed Machine changed that the plan reads. */
const machineChanged = partChanged<Machine>(({ metadata, spec, status }) =>
  isFollowed({ spec })
    ? [
        metadata.annotations?.[ANNOTATION_HOLD],
        metadata.annotations?.[ANNOTATION_OWNER_HOLD],
        metadata.deletionTimestamp,
        spec.hold,
        spec.infra.config,
        conditionOf(status?.conditions, 'NeedsPerson'),
        conditionOf(status?.conditions, REMEDIATION_REQUESTED),
        status?.remedyWaits,
      ]
    : [],
);

/** Returns a function that reports once when requests cannot be read, and when they can be again. */
function createReadReport(): (read: ReturnType<RemediationSource['read']>, log: Log) => void {
  let before: string | undefined;
  return (found, log) => {
    if (found === undefined) return;
    const because = 'unreadable' in found ? found.unreadable : undefined;
    if (because === before) return;
    before = because;
    if (because === undefined) log.info('remediation requests are read');
    else log.warn('remediation requests are not read', { because });
  };
}

async function reconcile(
  { source, theirs, client }: RemediationControllerOptions,
  startedAt: Date,
  context: ReconcileContext,
): Promise<ReconcileResult> {
  const [requests, found] = [source.read(), theirs.read()];
  // While they cannot be read, the conditions that rules read stay as they are: a repair that began continues.
  if (requests === undefined || 'unreadable' in requests) return {};
  if (found === undefined || isUnreadable(found)) return {};
  const remediations = requestsHere(requests, found.machines, isHere(context));
  const plan = planRemediation({ ...observeRemediation(remediations, context), startedAt });
  const isDone = await carryOutRemediation(plan, { client, context });
  const again = isDone ? undefined : secondsAfter(context.clock.now(), HAND_BACK_AGAIN_SECONDS);
  return optional('requeueAt', firstMoment([changesAt(plan), again]));
}

/** Tells whether a Machine of Cluster API is one of this cluster, as far as that is known: it has no Node, one of this cluster, or had one. */
function isHere(context: ReconcileContext): (machine: ForeignMachine) => boolean {
  const nodes = context.view(NODES);
  const followed = new Set(
    context
      .view<Machine>(MACHINES)
      .list()
      .flatMap((each) => {
        const object = followedObject(each);
        return object ? [ownerKey(object)] : [];
      }),
  );
  return (machine) =>
    machine.node === undefined || nodes.get(machine.node) !== undefined || followed.has(ownerKey(machine));
}

function observeRemediation(
  remediations: RemediationInput['remediations'],
  context: ReconcileContext,
): Omit<RemediationInput, 'startedAt'> {
  const nodes = context.view(NODES);
  const jobs = context.view<RemedyOperationJob>(REMEDY_OPERATION_JOBS);
  const rules = context.view<NodeRemedier>(NODE_REMEDIERS);
  const policies = context.view<DefenderPolicy>(DEFENDER_POLICIES).list();
  const ledger = context.view<DefenderLedger>(DEFENDER_LEDGERS).get(LEDGER);
  const now = context.clock.now();
  return {
    remediations,
    machines: context.view<Machine>(MACHINES).list(),
    nodeOf: (name) => nodes.get(name),
    jobsOf: (machine) => jobsOn(machine, jobs),
    ruleOf: (name) => rules.get(name),
    stopped: repairStop(policies, ledger, now),
    now,
  };
}
