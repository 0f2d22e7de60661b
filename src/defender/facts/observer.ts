/**
 * Keeps the facts of the fleet current with every change of an object, so that a decision lists nothing: it reads counts
 * and single machines. Until every view is complete nothing is known, and nothing is granted.
 */
import type { LedgerGone, LedgerHolder, Machine } from '../../api/generated/types.ts';
import { jobsOfHardware } from '../../api/machine/jobs.ts';
import { FLEET_ALLOWANCE, LABEL_HARDWARE } from '../../api/names.ts';
import { generationChanged } from '../../kube/controller/predicates.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { Clock } from '../../os/clock.ts';
import { recordedAlert } from '../alerts/recorded-alerts.ts';
import type { LiveGrant } from '../ledger/recover.ts';
import { type PreparedPolicies, preparePolicies } from '../policies/prepare.ts';
import { acceptanceProblems } from '../policies/unsupported.ts';
import type { CallWindow } from './call-window.ts';
import type { FleetFacts, MachineFacts, ObservedAllowance } from './facts.ts';
import { createFaultsSince, type FaultsSince } from './fault-since.ts';
import { createFleetIndex, type FleetIndex } from './fleet-index.ts';
import { foreignOwner } from './foreign.ts';
import { withHardwareRepairs } from './hardware-repairs.ts';
import { type HolderState, holderState } from './holder-state.ts';
import { jobGrants, machineGrants, nodeGrants } from './live-grants.ts';
import { type ObservedMachine, observedFacts, signFacts } from './observed-machine.ts';
import { blockingPodsOn, isComplete, nodesOf, type ObservedViews, viewFacts } from './observed-views.ts';
import { clusterOfKey, hostedControlPlaneFacts } from './other-subjects/hosted-control-plane.ts';
import { orphanInstanceFacts } from './other-subjects/orphan-instance.ts';
import { createPoolSizes, type PoolSizes } from './pool-sizes.ts';
import { type CapacityView, createCapacityView } from './signs/capacity-view.ts';
import { ALL_PODS } from './signs/named-signs.ts';
import { createPolicySigns, type PolicySigns, type PolicySignsOptions } from './signs/signs.ts';
import { createUnknownSince, type UnknownSince } from './unknown-since.ts';

export interface FleetObserver {
  facts(): FleetFacts;
  policies(): PreparedPolicies;
  /** Undefined until every view is complete. */
  liveGrants(): readonly LiveGrant[] | undefined;
  holder(machine: string, holder: LedgerHolder): HolderState;
  /** Resolves when all Leases and Pods that policies name were listed. Rejects when the signal is aborted first. */
  signsListed(signal: AbortSignal): Promise<void>;
  /** Machines that were deleted, until `recorded` is called for them. */
  deleted(): ReadonlyMap<string, LedgerGone>;
  recorded(machine: string): void;
  close(): void;
}

export interface FleetObserverOptions {
  readonly views: ObservedViews;
  readonly clock: Pick<Clock, 'now'>;
  readonly calls: CallWindow;
  /** Creates the view of what a policy names. Default: nothing of it is observed, and policies that name it deny. */
  readonly openSigns?: PolicySignsOptions['open'];
}

interface ObservedFleet extends FleetObserverOptions {
  readonly index: FleetIndex;
  readonly pools: PoolSizes;
  readonly unknownSince: UnknownSince;
  readonly faultsSince: FaultsSince;
  /** By the object that carries them. */
  readonly grants: Map<string, readonly LiveGrant[]>;
  readonly deleted: Map<string, LedgerGone>;
  signs: PolicySigns | undefined;
  capacity: CapacityView | undefined;
  prepared: PreparedPolicies | undefined;
  /** Whether the facts of machines were made with complete views. */
  isCurrent: boolean;
}

export function createFleetObserver(options: FleetObserverOptions): FleetObserver {
  const { views, calls } = options;
  const fleet: ObservedFleet = {
    ...options,
    index: createFleetIndex(),
    pools: createPoolSizes(),
    unknownSince: createUnknownSince(options.clock),
    faultsSince: createFaultsSince(options.clock),
    grants: new Map(),
    deleted: new Map(),
    signs: undefined,
    capacity: undefined,
    prepared: undefined,
    isCurrent: false,
  };
  fleet.signs = observeSigns(fleet);
  fleet.capacity = observeCapacity(fleet);
  const closes = [...subscribeMachines(fleet), ...subscribeOthers(fleet)];
  return {
    facts: () => {
      bringUpToDate(fleet);
      return {
        ...fleet.index,
        machine: (name) => machineOf(fleet, name) ?? controlPlaneOf(views, name) ?? orphanInstanceFacts(name),
        view: viewFacts(views, calls),
        // This version reads neither etcd members nor providers: what needs them is denied.
        controlPlane: undefined,
        zonalShifts: new Set(),
        ...optional('allowance', allowanceOf(views)),
        capacity: isComplete(views) ? fleet.capacity?.current() : undefined,
        alert: (policy, blocker) =>
          recordedAlert(views.policies.store.get(policy), blocker, options.clock.now()),
        withUnknownFacts: () => (isComplete(views) ? unknownToRules(fleet) : undefined),
        ...optional('modeOfRule', modesOfRules(views)),
        missingIn: (pool) => (isComplete(views) ? fleet.pools.missingIn(pool) : undefined),
        desiredIn: (pool) => (isComplete(views) ? fleet.pools.desiredIn(pool) : undefined),
      };
    },
    policies: () => currentPolicies(fleet),
    liveGrants: () => (isComplete(views) ? [...fleet.grants.values()].flat() : undefined),
    holder: (machine, holder) => (isComplete(views) ? stateOfHolder(views, machine, holder) : 'Unknown'),
    signsListed: async (signal) => {
      await fleet.signs?.listed(signal);
      await fleet.capacity?.listed(signal);
    },
    deleted: () => fleet.deleted,
    recorded: (machine) => void fleet.deleted.delete(machine),
    close: () => {
      for (const close of closes) close();
      fleet.signs?.close();
      fleet.capacity?.close();
    },
  };
}

/** Undefined: it was not observed. */
function allowanceOf({ allowances }: ObservedViews): ObservedAllowance {
  if (!allowances?.store.hasSynced()) return undefined;
  return allowances.store.get(FLEET_ALLOWANCE) ?? 'None';
}

function observeSigns(fleet: ObservedFleet): PolicySigns | undefined {
  const { views, clock, openSigns: open } = fleet;
  const changed = (node: string | undefined): void => {
    if (node === undefined) fleet.isCurrent = false;
    else putAgain(fleet, node);
  };
  return open && createPolicySigns({ policies: views.policies.store, open, clock, changed });
}

/** All Pods are one more selection: the empty selector. */
function observeCapacity({ views, openSigns: open }: ObservedFleet): CapacityView | undefined {
  const { policies, nodes } = views;
  return (
    open &&
    createCapacityView({
      policies: policies.store,
      nodes: nodes.store,
      open: () => open({ kind: 'Pod', of: ALL_PODS }),
    })
  );
}

function signsOn(
  { views, signs }: Pick<ObservedFleet, 'views' | 'signs'>,
  node: string,
): Pick<ObservedMachine, 'blockingPods' | 'signs'> {
  return { blockingPods: blockingPodsOn(views, node), signs: signs?.of(node) };
}

/** Reads when a machine is judged what no event reports: that a Lease or a view has become too old, and repairs of its hardware. */
function machineOf(fleet: ObservedFleet, name: string): MachineFacts | undefined {
  const facts = fleet.index.machine(name);
  return facts && repairedHardware(fleet, { ...facts, ...signFacts(signsOn(fleet, name)) });
}

/** Jobs are read when a machine is judged: what was repaired on the same hardware changes with other Machines. */
function repairedHardware({ views: { machines, jobs } }: ObservedFleet, facts: MachineFacts): MachineFacts {
  const { name } = facts;
  const machine = machines.store.get(name);
  // The label of the Machine: a kubelet may set labels of its Node.
  const hardware = machine?.metadata.labels?.[LABEL_HARDWARE];
  if (!facts.repairs || !machine || hardware === undefined) return facts;
  const history = {
    jobs: jobsOfHardware(hardware, jobs.store),
    uidOf: (other: string) => machines.store.get(other)?.metadata.uid,
  };
  return { ...facts, repairs: withHardwareRepairs(facts.repairs, machine, history) };
}

/** Returns the facts of a hosted control plane; undefined for any other key, and in a process that reads no Clusters. */
function controlPlaneOf({ clusters }: ObservedViews, key: string): MachineFacts | undefined {
  const name = clusterOfKey(key);
  const cluster = name === undefined ? undefined : clusters?.store.get(name);
  return cluster && hostedControlPlaneFacts(cluster);
}

/** Undefined: rules are not read, or not completely. */
function modesOfRules(views: ObservedViews): FleetFacts['modeOfRule'] | undefined {
  const { rules } = views;
  return rules && isComplete(views) ? (rule) => rules.store.get(rule)?.spec.mode ?? 'Absent' : undefined;
}

/** A rule that only observes acts on nothing, so that what it does not know holds nothing up. Undefined: rules are not read. */
function unknownToRules({ index, views: { rules } }: ObservedFleet): readonly MachineFacts[] | undefined {
  if (!rules) return undefined;
  const isEnforced = (rule: string): boolean => rules.store.get(rule)?.spec.mode === 'Enforce';
  return index.withUnknownFacts().flatMap((machine) => {
    const unknownFacts = (machine.unknownFacts ?? []).filter(({ rule }) => isEnforced(rule));
    return unknownFacts.length > 0 ? { ...machine, unknownFacts } : [];
  });
}

function stateOfHolder(
  { jobs, machines }: ObservedViews,
  machine: string,
  holder: LedgerHolder,
): HolderState {
  const objects = {
    job: (name: string) => jobs.store.get(name),
    machine: (name: string) => machines.store.get(name),
  };
  return holderState(objects, machine, holder);
}

function subscribeMachines(fleet: ObservedFleet): readonly (() => void)[] {
  const { machines, nodes, pods } = fleet.views;
  const putNode = (node: KubeObject): void => {
    keepGrants(fleet, node, nodeGrants(node));
    putAgain(fleet, node.metadata.name);
  };
  const putPod = (...states: readonly KubeObject[]): void => {
    for (const node of new Set(states.flatMap(nodesOf))) putAgain(fleet, node);
  };
  return [
    machines.store.subscribe({
      added: (machine) => putMachine(fleet, machine),
      updated: (machine) => putMachine(fleet, machine),
      removed: (machine) => removeMachine(fleet, machine),
    }),
    nodes.store.subscribe({
      added: putNode,
      updated: putNode,
      removed: (node) => {
        keepGrants(fleet, node, []);
        putAgain(fleet, node.metadata.name);
      },
    }),
    pods.store.subscribe({ added: (pod) => putPod(pod), updated: putPod, removed: (pod) => putPod(pod) }),
  ];
}

function subscribeOthers(fleet: ObservedFleet): readonly (() => void)[] {
  const { machineSets, jobs, policies } = fleet.views;
  const { pools } = fleet;
  const forget = (): void => {
    fleet.prepared = undefined;
  };
  return [
    machineSets.store.subscribe({
      added: (set) => pools.putSet(set),
      updated: (set) => pools.putSet(set),
      removed: ({ metadata }) => pools.removeSet(metadata.name),
    }),
    jobs.store.subscribe({
      added: (job) => keepGrants(fleet, job, jobGrants(job)),
      updated: (job) => keepGrants(fleet, job, jobGrants(job)),
      removed: (job) => keepGrants(fleet, job, []),
    }),
    policies.store.subscribe({
      added: forget,
      // Our own status does not change what a policy decides.
      updated: (policy, before) => generationChanged(before, policy) && forget(),
      removed: forget,
    }),
  ];
}

/** Facts that were made while Pods were not listed are made again once they are. */
function bringUpToDate(fleet: ObservedFleet): void {
  currentPolicies(fleet);
  if (fleet.isCurrent || !isComplete(fleet.views)) return;
  for (const machine of fleet.views.machines.store.list()) putMachine(fleet, machine);
  fleet.isCurrent = true;
}

/** Groupings of the present policies are counted before a decision reads them. */
function currentPolicies(fleet: ObservedFleet): PreparedPolicies {
  if (fleet.prepared) return fleet.prepared;
  const all = fleet.views.policies.store.list();
  const foreign = all.flatMap(({ spec }) => spec.blockers.foreign);
  fleet.prepared = preparePolicies(all, acceptanceProblems);
  fleet.index.setGroupings(
    fleet.prepared.groupings,
    (machine) => foreignOwner(machine, foreign) !== undefined,
  );
  return fleet.prepared;
}

function putMachine(fleet: ObservedFleet, machine: Machine): void {
  const { views, index, pools, deleted, unknownSince, faultsSince, isCurrent } = fleet;
  const { name } = machine.metadata;
  const node = views.nodes.store.get(name);
  const facts = observedFacts({
    machine,
    node,
    ...signsOn(fleet, name),
    unknownSince: unknownSince.observe(name, node, !isCurrent),
    faults: faultsSince.observe(name, node, !isCurrent),
  });
  index.put(facts);
  pools.putMachine(facts);
  deleted.delete(name);
  keepGrants(fleet, machine, machineGrants(machine));
}

/** Only the leader records deletions, and all of a fleet are seldom deleted at once. The ledger holds a quarter of them. */
const MAX_DELETED = 2048;

function removeMachine(fleet: ObservedFleet, machine: Machine): void {
  const { index, pools, unknownSince, faultsSince, deleted, clock } = fleet;
  const { name } = machine.metadata;
  const before = index.machine(name);
  if (before?.established) {
    const { pool, zone } = before;
    const since = clock.now().toISOString();
    deleted.set(name, { ...optional('pool', pool), ...optional('zone', zone), since });
    const [oldest] = deleted.keys();
    if (deleted.size > MAX_DELETED && oldest !== undefined) deleted.delete(oldest);
  }
  index.remove(name);
  pools.removeMachine(name);
  unknownSince.forget(name);
  faultsSince.forget(name);
  keepGrants(fleet, machine, []);
}

/** The machine of that name, whose Node or Pods changed. */
function putAgain(fleet: ObservedFleet, name: string): void {
  const machine = fleet.views.machines.store.get(name);
  if (machine) putMachine(fleet, machine);
}

function keepGrants(
  { grants }: ObservedFleet,
  { kind, metadata: { name } }: KubeObject,
  found: readonly LiveGrant[],
): void {
  if (found.length > 0) grants.set(`${kind}/${name}`, found);
  else grants.delete(`${kind}/${name}`);
}
