/** Creates and destroys hosted control planes, as kubenode-hosting. Every choice is made in plan. */
import { CLUSTERS, DEFENDER_LEDGERS, DEFENDER_POLICIES } from '../../api/generated/resources.ts';
import type { Cluster, DefenderLedger } from '../../api/generated/types.ts';
import { FINALIZER_HOSTING, LABEL_CLUSTER, MANAGER_HOSTING } from '../../api/names.ts';
import { type Controller, type ReconcileResult, read } from '../../kube/controller/controller.ts';
import type { StatusIntent } from '../../kube/controller/intent.ts';
import { contentChanged, generationChanged } from '../../kube/controller/predicates.ts';
import type { ReconcileContext } from '../../kube/controller/reconcile-context.ts';
import { SECRETS } from '../../kube/objects/core-kinds.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { optional } from '../../kube/objects/optional.ts';
import { drillEvent } from './execute/drill-event.ts';
import { blockedBy, carryOutHosting } from './execute/execute.ts';
import { clustersWithGrant, settleGrantLeft } from './execute/permission.ts';
import { createChangeTurn } from './execute/turn.ts';
import { createUpkeepRuns } from './execute/upkeep.ts';
import { type HostingObservation, type HostingParts, type HostingPorts, observeHosting } from './observe.ts';
import { isUpkeep } from './plan/etcd/backup.ts';
import { outsideSubject } from './plan/exposure/exposure.ts';
import type { HostingDecision, HostingInput, HostingWait } from './plan/input.ts';
import { planHosting } from './plan/plan.ts';
import { beginsControllers, waitForTurn } from './plan/upgrade/controllers.ts';
import { HOSTING_CONDITIONS, hostingStatus, unobservedStatus } from './status.ts';

/** After an act the next step is due at once; a member that starts is asked often, and one that runs now and then. */
const NEXT_MS = 50;
const STARTING_MS = 500;
const WAITING_MS = 10_000;
const STEADY_MS = 10_000;

export function createHostingController(ports: HostingPorts): Controller {
  const [upkeep, turn] = [createUpkeepRuns(), createChangeTurn()];
  return {
    name: 'hosting',
    reads: [
      read<Cluster>(CLUSTERS, { changed: contentChanged }),
      read(SECRETS, { keys: clusterOf }),
      read(DEFENDER_POLICIES, { keys: () => [] }),
      read<DefenderLedger>(DEFENDER_LEDGERS, {
        keys: clustersWithGrant,
        changed: generationChanged,
        gatherMs: WAITING_MS,
      }),
    ],
    triggers: (add) => upkeep.open(add),
    writes: [
      'Cluster.status.hosted',
      ...HOSTING_CONDITIONS.map((type) => `Cluster.status.conditions[${type}]`),
      `Cluster.metadata.finalizers[${FINALIZER_HOSTING}]`,
      'Secret.metadata.labels',
      'Secret.metadata.annotations',
      'Secret.type',
      'Secret.data',
    ],
    creates: ['Secret'],
    deletes: ['Secret', 'Cluster'],
    fieldManager: MANAGER_HOSTING,
    concurrency: 4,
    reconcile: (name, context) => reconcile(name, { ...ports, upkeep, turn }, context),
  };
}

function clusterOf({ metadata }: KubeObject): readonly string[] {
  const cluster = metadata.labels?.[LABEL_CLUSTER];
  return cluster === undefined ? [] : [cluster];
}

async function reconcile(
  name: string,
  ports: HostingParts,
  context: ReconcileContext,
): Promise<ReconcileResult> {
  const cluster = context.view<Cluster>(CLUSTERS).get(name);
  if (!cluster) {
    await ports.upkeep.end(name);
    await settleGrantLeft(name, { grants: ports.grants, context });
  }
  // A Cluster without it is somebody else's.
  if (!cluster?.spec.hosted) return {};
  const observation = await observe(cluster, cluster.spec.hosted, ports, context);
  if (!('isStalled' in observation)) return await step(observation, ports, context);
  const status = unobservedStatus({ cluster, now: context.clock.now() }, observation);
  await report(cluster, status, context);
  return { requeueAt: new Date(+context.clock.now() + WAITING_MS) };
}

async function step(
  observation: HostingObservation,
  ports: HostingParts,
  context: ReconcileContext,
): Promise<ReconcileResult> {
  const { input, decision, blocked } = await carryOut(observation, ports, context);
  const { act } = decision;
  const wait = blocked ?? decision.wait;
  if (act?.type === 'RemoveFinalizer' && !blocked) return {};
  const upkeep = input.upkeep ?? ports.upkeep.find(observation.plane);
  const event = drillEvent({ ...input, upkeep });
  if (event) context.event(input.cluster, event);
  await report(input.cluster, hostingStatus({ ...input, upkeep }, wait, act), context);
  return { requeueAt: new Date(+context.clock.now() + delayOf(decision, wait)) };
}

interface CarriedOut {
  readonly input: HostingInput;
  readonly decision: HostingDecision;
  readonly blocked: HostingWait | undefined;
}

/** Tries once what only other machines need: when it is refused, the next step is planned without it, so that it keeps nothing else waiting. */
async function carryOut(
  observation: HostingObservation,
  ports: HostingParts,
  context: ReconcileContext,
): Promise<CarriedOut> {
  const { input } = observation;
  const decision = inTurn(planHosting(input), input, { ...ports, ...context });
  const { act } = decision;
  const blocked = act && (await carryOutHosting(act, observation, ports, context));
  const subject = act && outsideSubject(act);
  if (!blocked || !subject || input.refused?.has(subject)) return { input, decision, blocked };
  const refused = new Map([...(input.refused ?? []), [subject, blocked] as const]);
  return await carryOut({ ...observation, input: { ...input, refused } }, ports, context);
}

/** A change of our controllers begins only in its turn. Every other decision stays as it is. */
function inTurn(
  decision: HostingDecision,
  { cluster }: HostingInput,
  { turn, clock }: Pick<HostingParts, 'turn'> & Pick<ReconcileContext, 'clock'>,
): HostingDecision {
  if (!beginsControllers(decision.act, cluster)) return decision;
  const first = turn.take(cluster.metadata.name, clock.monotonicMs());
  return first === undefined ? decision : { wait: waitForTurn(first) };
}

/** Resolves to a wait when the control plane cannot be observed. */
async function observe(
  ...[cluster, hosted, ports, context]: Parameters<typeof observeHosting>
): Promise<HostingObservation | HostingWait> {
  try {
    return await observeHosting(cluster, hosted, ports, context);
  } catch (error) {
    return blockedBy(error, 'Observe', context);
  }
}

async function report(
  { metadata: { name, uid } }: Cluster,
  status: StatusIntent<Cluster>['status'],
  context: ReconcileContext,
): Promise<void> {
  await context.applyStatus(CLUSTERS, { metadata: { name, ...optional('uid', uid) }, status });
}

/** Processes answer without telling anybody. */
const SOON = [
  'MemberStarting',
  'EtcdMemberJoining',
  'QuorumAtRisk',
  'ApiServerDown',
  'ControllersStarting',
  'ApiNotAnswering',
  'ProgramsMissing',
  'CanaryFailed',
  'AuthoritiesNotProven',
];

function delayOf({ act }: HostingDecision, wait: HostingWait | undefined): number {
  if (wait) return SOON.includes(wait.reason) && !wait.isStalled ? STARTING_MS : WAITING_MS;
  // A backup or a drill that has begun starts the next reconcile when it ends, unless it is postponed.
  return act && !isUpkeep(act) ? NEXT_MS : STEADY_MS;
}
