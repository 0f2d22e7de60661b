/** Rolls the versions of MachineComponentSets out over their machines, and permits what people pin, as kubenode-componentset. Every choice is made in plan.ts. */
import {
  DEFENDER_LEDGERS,
  MACHINE_COMPONENT_SETS,
  MACHINE_COMPONENTS,
  MACHINES,
  REMEDY_OPERATION_JOBS,
} from '../../api/generated/resources.ts';
import type {
  MachineComponent,
  MachineComponentSet,
  MachineComponentSpec,
} from '../../api/generated/types.ts';
import { readAgentLeases } from '../../api/machine/agent-lease.ts';
import { EVENT_PREFIX, MANAGER_COMPONENTSET, NAMESPACE, PRINCIPAL_COMPONENTSET } from '../../api/names.ts';
import { type Controller, type ReconcileResult, read } from '../../kube/controller/controller.ts';
import { generationChanged } from '../../kube/controller/predicates.ts';
import type { ReconcileContext } from '../../kube/controller/reconcile-context.ts';
import { NODES } from '../../kube/objects/core-kinds.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { CheckScheduler } from '../../rollout/checks/scheduler.ts';
import type { ServerVersions } from '../../rollout/kubelet-skew.ts';
import { tellStalled } from '../../rollout/stalled.ts';
import { comparesServers, createCompatRule } from './compat/rule.ts';
import { endDeletedSet } from './deleted-set.ts';
import { type AnnouncedResult, carryOutRollout, type RolloutResult } from './execute/execute.ts';
import { previewDenials, type RolloutGrants } from './execute/permissions.ts';
import { createSettledGrants, type SettledGrants } from './execute/settled-grants.ts';
import type { RolloutMetrics } from './metrics.ts';
import { type ObservedBeside, type ObservedRollout, observeRollout } from './observe/observe.ts';
import type { RestartWatch } from './observe/restart-watch.ts';
import {
  componentChanged,
  createSetIndex,
  machineChanged,
  nodeChanged,
  type SetIndex,
} from './observe/triggers.ts';
import { machineOfKey, pinKeys, reconcilePins } from './pin/controller.ts';
import { planRollout } from './plan.ts';
import { previewRollout } from './preview/preview.ts';
import { nextReconcileAt } from './requeue.ts';
import type { Revision } from './revision/resolve.ts';
import { CONTROLLER_REVISIONS } from './revision/stored-revisions.ts';
import type { RolloutInput, RolloutPlan } from './rollout/input.ts';
import type { ReadServerVersions } from './servers/read-versions.ts';
import { createSkewRule, type FindIdentity } from './servers/skew.ts';
import { builtinRuns } from './status/builtin-runs.ts';
import type { SetReport } from './status/report.ts';
import { componentSetStatus } from './status/status.ts';

/** The machines of a batch report their ends together. One settlement of them all leaves the ledger free for the next batch. */
const GATHER_MS = 100;

export interface ComponentSetControllerOptions {
  readonly grants: RolloutGrants;
  readonly readServers: ReadServerVersions;
  readonly metrics?: RolloutMetrics;
  /** Undefined: restarts of containers are not observed, as where only the spread is simulated. */
  readonly restarts?: RestartWatch;
  /** Creates what runs http and promql checks, and calls back with the set of each result. Undefined: they never have one, so they hold. */
  readonly createChecks?: (onResult: (set: string) => void) => CheckScheduler;
}

export function createComponentSetController(options: ComponentSetControllerOptions): Controller {
  const index = createSetIndex();
  let addKey: ((key: string) => void) | undefined;
  const checks = options.createChecks?.((set) => addKey?.(set));
  const settled = createSettledGrants(options.grants, (set) => addKey?.(set));
  const currentGrants: SettledGrants['current'] = (viewed) => settled.current(viewed);
  const parts = { ...options, grants: settled.grants, currentGrants, settled };
  return {
    name: 'componentset',
    reads: [
      read(MACHINE_COMPONENT_SETS, { keys: index.ofSet, changed: generationChanged }),
      read(MACHINES, {
        keys: (machine) => [...index.ofMachine(machine), ...pinKeys(machine)],
        changed: machineChanged,
        gatherMs: GATHER_MS,
      }),
      read(MACHINE_COMPONENTS, { keys: index.all, changed: componentChanged }),
      read(NODES, { keys: index.ofNamesake, changed: nodeChanged }),
      readAgentLeases(index.ofNamesake),
      read(CONTROLLER_REVISIONS, { keys: () => [] }),
      // Every grant of anybody changes the ledger, so a set looks at it when something else happens, or after a while.
      read(DEFENDER_LEDGERS, { keys: () => [] }),
      read(REMEDY_OPERATION_JOBS, { keys: () => [] }),
    ],
    triggers: (add) => {
      addKey = add;
      return () => void (addKey = undefined);
    },
    writes: [
      'Machine.spec.components',
      'MachineComponentSet.status',
      'ControllerRevision.metadata.ownerReferences',
      'ControllerRevision.data',
      'ControllerRevision.revision',
    ],
    creates: ['ControllerRevision'],
    deletes: ['ControllerRevision'],
    fieldManager: MANAGER_COMPONENTSET,
    serviceAccount: { namespace: NAMESPACE, name: PRINCIPAL_COMPONENTSET },
    reconcile: (key, context) => {
      const machine = machineOfKey(key);
      if (machine !== undefined) return reconcilePins(machine, { ...parts, context });
      return reconcile(key, { ...parts, ...optional('checks', checks), index, context });
    },
  };
}

interface Reconcile extends ComponentSetControllerOptions, Pick<ObservedBeside, 'currentGrants'> {
  readonly checks?: CheckScheduler;
  readonly index: SetIndex;
  readonly settled: Pick<SettledGrants, 'ofSet'>;
  readonly context: ReconcileContext;
}

async function reconcile(name: string, parts: Reconcile): Promise<ReconcileResult> {
  const { index, settled, context } = parts;
  index.know(context);
  const ended = await endDeletedSet(name, parts);
  const set = context.view<MachineComponentSet>(MACHINE_COMPONENT_SETS).get(name);
  if (ended || !set) {
    forgetSet(name, parts);
    return ended ?? {};
  }
  const grants = settled.ofSet(name);
  const observed = observeRollout(set, context, observedBeside(name, parts));
  const { input, conflicts } = await withVersionRules(observed, parts);
  const plan = planRollout(input);
  const shown: SetReport = { input, plan, conflicts, denials: [], runs: builtinRuns(input, plan) };
  const status = componentSetStatus(shown);
  const found = await carryOutRollout({ input, plan, status, grants, context });
  followChecks({ input, plan }, found, parts);
  // A dry run has no actions that are asked for.
  const previewed = set.spec.dryRun ? await previewDenials(previewRollout(input).asks, grants) : [];
  const result = { ...found, denials: [...found.denials, ...previewed] };
  report({ ...shown, denials: result.denials }, result, parts);
  if (result.failure) throw result.failure;
  return { requeueAt: nextReconcileAt({ input, plan, ...result }) };
}

/** Without a kubelet, and without a range of Kubernetes versions, no API server has to be asked. */
async function withVersionRules(
  observed: ObservedRollout,
  { readServers, context }: Reconcile,
): Promise<ObservedRollout> {
  const components = context.view<MachineComponent>(MACHINE_COMPONENTS);
  const find = (componentRef: string): MachineComponentSpec | undefined => components.get(componentRef)?.spec;
  const { desired, stable } = observed.input;
  const revisions = [...('revision' in desired ? [desired.revision] : []), ...(stable ? [stable] : [])];
  const isCompared = revisions.some((each) => hasKubelet(each, find) || comparesServers(each, find));
  const servers = isCompared ? await readServers() : NOT_READ;
  const rules = { skewOf: createSkewRule(servers, find), compatOf: createCompatRule(servers, find) };
  return { ...observed, input: { ...observed.input, ...rules, now: context.clock.now() } };
}

const NOT_READ: ServerVersions = { state: 'Unknown', because: 'no component is compared with them' };

function hasKubelet({ components }: Revision, find: FindIdentity): boolean {
  return components.some(({ componentRef }) => find(componentRef)?.identity === 'Kubelet');
}

function forgetSet(name: string, { metrics, restarts, checks }: Reconcile): void {
  metrics?.forget(name);
  restarts?.forget(name);
  checks?.forget(name);
}

function observedBeside(name: string, { restarts, checks, currentGrants }: Reconcile): ObservedBeside {
  const beside = { ...optional('restarts', restarts), ...optional('currentGrants', currentGrants) };
  return { runs: checks?.results(name) ?? [], ...beside };
}

/** Drops the runs that are recorded, and starts those that are due. */
function followChecks(
  { input, plan }: { readonly input: RolloutInput; readonly plan: RolloutPlan },
  { isCurrent }: AnnouncedResult,
  { checks }: Reconcile,
): void {
  if (!checks || !isCurrent) return;
  const { name } = input.set.metadata;
  for (const { check, at } of input.runs) checks.drop(name, check, at);
  const { due, machines } = plan.checks;
  for (const { check, known } of due) checks.start(check, { name, machines }, known);
}

/** Not of a set that was changed meanwhile: its next plan is reported. */
function report(shown: SetReport, { isIncomplete }: RolloutResult, { context, metrics }: Reconcile): void {
  const { name } = shown.input.set.metadata;
  if (isIncomplete || !context.view(MACHINE_COMPONENT_SETS).get(name)) return;
  const status = componentSetStatus(shown);
  metrics?.observe(shown, status);
  tellStalled(shown.input.set, status, EVENT_PREFIX[MANAGER_COMPONENTSET], context);
  context.reportStatus(MACHINE_COMPONENT_SETS, { metadata: { name }, status });
}
