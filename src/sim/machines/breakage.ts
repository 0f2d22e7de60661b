/** Breaks a part of a run on purpose, to show that its promise is judged: a guard of the planner, the writes of the set, or what a provider finds. */
import { MACHINE_SETS, MACHINES } from '../../api/generated/resources.ts';
import type { Machine, MachineSet } from '../../api/generated/types.ts';
import type { Provider } from '../../providers/contract.ts';
import type { FaultyClient } from '../rollout/faulty-client.ts';
import { find, type ProcessViews, unheld, viewsShowing } from '../rollout/repairs/guard-breakage.ts';
import { KEEP } from './set-repairs.ts';

type SetSpec = MachineSet['spec'];

/** A guard of the planner is taken out: the set is shown so that it never stops anything. */
const SETS = {
  PauseIgnored: (spec) => ({ ...spec, paused: false }),
  StormIgnored: (spec) => withGuard(spec, { maxUnhealthy: '100%', maxUnhealthyInZone: '100%' }),
  OvershootIgnored: (spec) => withGuard(spec, { overshoot: 100 }),
  /** A set that only updates in place replaces machines. */
  StrategyIgnored: (spec) => ({
    ...spec,
    updateStrategy: { type: 'Replace', maxUnavailable: 1, maxSurge: 1 },
  }),
  /** Machines are replaced before another one serves in their place. */
  AvailabilityIgnored: (spec) => ({
    ...spec,
    updateStrategy: { type: 'Replace', maxUnavailable: '100%' },
  }),
  /** A machine that starts has failed at once. */
  StartupIgnored: (spec) => ({ ...spec, startupTimeoutSeconds: 0 }),
} satisfies Readonly<Record<string, (spec: SetSpec) => SetSpec>>;

export const SET_BREAKAGES = [
  'PauseIgnored',
  'StormIgnored',
  'OvershootIgnored',
  'StartupIgnored',
  'StrategyIgnored',
  'AvailabilityIgnored',
  /** The set deletes machines without asking the Defender. */
  'GrantIgnored',
  /** Neither the set nor the Defender reads holds. */
  'HoldIgnored',
  /** A machine is deleted though it is not as it was judged any more. */
  'VersionIgnored',
  /**
   * The name of a new machine is another one each time, and machines are counted in the view, which may be late: each of the two keeps a
   * retry from creating a second one.
   */
  'NameIgnored',
  /** The provider finds no instance by its tags. */
  'TagsIgnored',
  /** A machine that a job has marked is replaced although it is Ready again. Only a run with repairs has this one and the next. */
  'ReturnIgnored',
  /** The instances of more machines are kept than the job allows. */
  'KeepingUnlimited',
] as const;
export type SetBreakage = (typeof SET_BREAKAGES)[number];

export function setViewsWith(views: ProcessViews, broken: SetBreakage | undefined): ProcessViews {
  const show = find(SETS, broken);
  const ofSet = show && ((set: MachineSet) => ({ ...set, spec: show(set.spec) }));
  const shown = viewsShowing(views, MACHINE_SETS, ofSet);
  return viewsShowing(shown, MACHINES, find(MACHINES_OF_SET, broken));
}

const MACHINES_OF_SET = {
  HoldIgnored: unheld,
  ReturnIgnored: (machine) => withMark(machine, { wasReady: true }),
} satisfies Readonly<Record<string, (machine: Machine) => Machine>>;

/** Breaks what the controller of Machines is shown. */
export function machineViewsWith(views: ProcessViews, broken: SetBreakage | undefined): ProcessViews {
  const keepFailed = { ...KEEP, max: 99 };
  const show =
    broken === 'KeepingUnlimited' ? (machine: Machine) => withMark(machine, { keepFailed }) : undefined;
  return viewsShowing(views, MACHINES, show);
}

function withMark(
  { status, ...machine }: Machine,
  changes: Partial<NonNullable<NonNullable<Machine['status']>['replacement']>>,
): Machine {
  if (!status?.replacement) return { ...machine, ...(status ? { status } : {}) };
  return { ...machine, status: { ...status, replacement: { ...status.replacement, ...changes } } };
}

type BrokenCalls = (client: FaultyClient, views: ProcessViews) => Partial<FaultyClient>;

const CALLS: Partial<Record<SetBreakage, BrokenCalls>> = {
  HoldIgnored: (client) => ({ pages: pagesShowing(client, unheld) }),
  ReturnIgnored: (client) => ({ pages: pagesShowing(client, MACHINES_OF_SET.ReturnIgnored) }),
  NameIgnored: (client, views) => ({ pages: viewedPages(views), apply: renaming(client) }),
  VersionIgnored: (client) => ({
    delete: (resource, name, { uid }) => client.delete(resource, name, { uid }),
  }),
};

export function setClientWith(
  client: FaultyClient,
  views: ProcessViews,
  broken: SetBreakage | undefined,
): FaultyClient {
  return broken === undefined ? client : { ...client, ...CALLS[broken]?.(client, views) };
}

function viewedPages(views: ProcessViews): FaultyClient['pages'] {
  return async function* pages({ kind }) {
    await Promise.resolve();
    yield { items: (views[kind]?.store.list() ?? []) as never, resourceVersion: '1' };
  };
}

function pagesShowing(client: FaultyClient, show: (machine: Machine) => Machine): FaultyClient['pages'] {
  return async function* pages(...call) {
    for await (const page of client.pages<Machine>(...call)) {
      yield { ...page, items: page.items.map(show) as never };
    }
  };
}

function renaming(client: FaultyClient): FaultyClient['apply'] {
  let count = 0;
  return (resource, object, options) => {
    const isNew = resource.kind === MACHINES.kind && object.metadata.uid === undefined;
    if (!isNew) return client.apply(resource, object, options);
    count += 1;
    const metadata = { ...object.metadata, name: `${object.metadata.name}-${count}` };
    return client.apply(resource, { ...object, metadata }, options);
  };
}

function withGuard(spec: SetSpec, guard: Partial<SetSpec['stormGuard']>): SetSpec {
  return { ...spec, stormGuard: { ...spec.stormGuard, ...guard } };
}

export function providerWith(provider: Provider, broken: SetBreakage | undefined): Provider {
  return broken === 'TagsIgnored' ? { ...provider, find: () => Promise.resolve([]) } : provider;
}
