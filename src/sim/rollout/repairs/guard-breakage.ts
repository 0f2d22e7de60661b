/**
 * Takes a guard of the planner of component sets out of a run, to show that the guard is needed. The planner is the real one: it gets
 * objects for which this guard never stops anything.
 */
import { MACHINE_COMPONENT_SETS, MACHINES } from '../../../api/generated/resources.ts';
import type { Machine, MachineComponentReport, MachineComponentSet } from '../../../api/generated/types.ts';
import type { Grant, GrantAsk, GrantPort } from '../../../api/grants.ts';
import { entryDigest } from '../../../api/machine/entry-content.ts';
import type { Store } from '../../../kube/cache/store.ts';
import type { View } from '../../../kube/cache/view.ts';
import { NODES } from '../../../kube/objects/core-kinds.ts';
import { listAt, textAt } from '../../../kube/objects/json.ts';
import type { KubeObject, Resource } from '../../../kube/objects/object.ts';

type SetSpec = MachineComponentSet['spec'];
type Rollout = SetSpec['rollout'];

const SETS = {
  PauseIgnored: (spec) => ({ ...spec, paused: false }),
  SelectorIgnored: (spec) => ({ ...spec, machineSelector: { all: true } }),
  AvailabilityIgnored: (spec) => withRollout(spec, { maxUnavailable: '100%' }),
  FailuresIgnored: (spec) =>
    withRollout(spec, { failure: { ...spec.rollout.failure, maxFailed: '100%', onFailure: 'Pause' } }),
  ApprovalIgnored: (spec) => withRollout(spec, { gate: { ...spec.rollout.gate, approval: 'None' } }),
  PartitionIgnored: (spec) => withRollout(spec, { partition: 0 }),
  SpreadIgnored: (spec) => ({ ...spec, rollout: withoutSpread(spec.rollout) }),
  SoakIgnored: (spec) => withRollout(spec, { gate: { ...spec.rollout.gate, soakSeconds: 0 } }),
} satisfies Readonly<Record<string, (spec: SetSpec) => SetSpec>>;

const MACHINE_FACTS = {
  HoldIgnored: unheld,
  /** Each agent seems to have committed its entries. */
  ReportIgnored: committed,
} satisfies Readonly<Record<string, (machine: Machine) => Machine>>;

export type RolloutBreakage =
  | keyof typeof SETS
  | keyof typeof MACHINE_FACTS
  /** Each Node seems to be Ready. */
  | 'HealthIgnored'
  /** The planner does not remember what was rolled back. */
  | 'RefusalForgotten'
  /** Updates begin without asking the Defender. */
  | 'GrantIgnored';

export type ProcessViews = Readonly<Record<string, View>>;

export function rolloutViewsWith(views: ProcessViews, broken: RolloutBreakage | undefined): ProcessViews {
  const spec = find(SETS, broken);
  const ofSet = spec && ((set: MachineComponentSet) => ({ ...set, spec: spec(set.spec) }));
  const shown = viewsShowing(
    views,
    MACHINE_COMPONENT_SETS,
    broken === 'RefusalForgotten' ? forgetful : ofSet,
  );
  const known = viewsShowing(shown, MACHINES, find(MACHINE_FACTS, broken));
  return viewsShowing(known, NODES, broken === 'HealthIgnored' ? ready : undefined);
}

/** Replaces the objects of a kind in the views. Without a `show`, returns the views as they are. */
export function viewsShowing<T extends KubeObject>(
  views: ProcessViews,
  { kind }: Resource<T>,
  show: ((object: T) => T) | undefined,
): ProcessViews {
  const view = views[kind] as View<T> | undefined;
  if (!show || !view) return views;
  const { store } = view;
  const shown: Store<T> = {
    ...store,
    list: () => store.list().map(show),
    get: (key) => {
      const found = store.get(key);
      return found && show(found);
    },
  };
  return { ...views, [kind]: { ...view, store: shown } };
}

/** Returns the guards of the ledger to leave out: the Defender has a guard of its own for the same. */
export function ledgerWithout(broken: string | undefined): ReadonlySet<string> | undefined {
  return broken === 'HoldIgnored' ? new Set(['held']) : undefined;
}

export function grantsWith<Port extends Pick<GrantPort, 'ask'>>(
  grants: Port,
  broken: string | undefined,
): Port {
  if (broken !== 'GrantIgnored') return grants;
  return { ...grants, ask: (asks) => Promise.resolve(asks.map(inventedGrant)) };
}

function inventedGrant({ machine, action, risk }: GrantAsk): Grant {
  const never = new Date(0).toISOString();
  const grant = {
    granted: true,
    id: 'none',
    fence: 0,
    machine,
    action,
    risk,
    issuedAt: never,
    notAfter: never,
  };
  return grant as Grant;
}

export function unheld({ spec, ...machine }: Machine): Machine {
  const { hold: _, ...rest } = spec;
  return { ...machine, spec: rest };
}

/** Returns the entry of a breakage in a table that has only some of them. */
export function find<T>(table: Readonly<Record<string, T>>, name: string | undefined): T | undefined {
  return name !== undefined && Object.hasOwn(table, name) ? table[name] : undefined;
}

function withoutSpread(rollout: Rollout): Rollout {
  const { spread: _, ...rest } = rollout;
  return rest;
}

function withRollout(spec: SetSpec, rollout: Partial<Rollout>): SetSpec {
  return { ...spec, rollout: { ...spec.rollout, ...rollout } };
}

function committed(machine: Machine): Machine {
  const { status, metadata, spec } = machine;
  if (!status?.agent) return machine;
  const agent = { ...status.agent, observedGeneration: metadata.generation ?? 0 };
  const components = spec.components.map((entry): MachineComponentReport => {
    const { name, componentRef } = entry;
    const digest = entryDigest(entry);
    return {
      name,
      desiredRef: componentRef,
      currentRef: componentRef,
      digest,
      state: 'Committed',
      running: true,
      ready: true,
    };
  });
  return { ...machine, status: { ...status, agent, components } };
}

function forgetful({ status, ...set }: MachineComponentSet): MachineComponentSet {
  if (!status) return set;
  const { stopped: _, history = [], ...rest } = status;
  return { ...set, status: { ...rest, history: history.filter(({ result }) => result !== 'RolledBack') } };
}

function ready(node: KubeObject): KubeObject {
  const conditions = listAt(node, 'status', 'conditions').map((each) =>
    textAt(each, 'type') === 'Ready' ? { ...(each as object), status: 'True' } : each,
  );
  return { ...node, status: { ...(node as { status?: object }).status, conditions } };
}
