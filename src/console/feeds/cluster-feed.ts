/** Feeds the console with the live rows of one cluster, from watches. Reads only kinds of kubenode: the role for viewers permits that. */
import {
  DEFENDER_LEDGERS,
  DEFENDER_POLICIES,
  MACHINE_COMPONENT_SETS,
  MACHINES,
  REMEDY_OPERATION_JOBS,
} from '../../api/generated/resources.ts';
import type {
  DefenderLedger,
  DefenderPolicy,
  Machine,
  MachineComponentSet,
  RemedyOperationJob,
} from '../../api/generated/types.ts';
import { LEDGER } from '../../api/names.ts';
import { createLiveFeed, type LiveFeed } from '../../kube/cache/live-feed.ts';
import type { Store } from '../../kube/cache/store.ts';
import { createTransform } from '../../kube/cache/trim.ts';
import { createView } from '../../kube/cache/view.ts';
import type { Client } from '../../kube/client/client.ts';
import type { Clock } from '../../os/clock.ts';
import { badConditionRows, componentRows } from '../../views/machine/components.ts';
import type { MachineDetailView } from '../../views/machine/detail.ts';
import { rolloutOutcome } from '../../views/rollout/outcome.ts';
import { machineInWork } from '../../views/rollout/view.ts';
import type { ConsoleState, MachineTile, RowsByKey } from '../state/state.ts';
import { grantLines, limitLines, machineTile, repairCards, rolloutCard } from './cluster-rows.ts';
import { defenderNotes } from './defender-notes.ts';

export type ClusterRows = Pick<
  ConsoleState,
  'machines' | 'rollouts' | 'repairs' | 'limits' | 'grants' | 'notes'
>;

export interface ClusterFeedOptions {
  readonly client: Client;
  readonly clock: Clock;
  /** The name of the cluster, with which the keys of its rows begin. */
  readonly cluster: string;
}

/** The fields of a Machine that no row shows. They are dropped to save memory: there may be 10,000 machines. */
const UNUSED = ['status.facts', 'status.system', 'status.drift', 'status.preflight', 'status.repairs'];

export interface ClusterFeed extends LiveFeed<ClusterRows> {
  /** Returns what only the detail of a machine shows; undefined: the machine does not exist. */
  machine(name: string): MachineDetailView | undefined;
}

export function createClusterFeed({ cluster, ...options }: ClusterFeedOptions): ClusterFeed {
  const { clock } = options;
  let store: Pick<Store<Machine>, 'get'> | undefined;
  const feed = createLiveFeed(options, (parts) => {
    const transform = createTransform<Machine>(UNUSED);
    const machines = createView<Machine>({ ...parts, resource: MACHINES, transform });
    const sets = createView<MachineComponentSet>({ ...parts, resource: MACHINE_COMPONENT_SETS });
    const jobs = createView<RemedyOperationJob>({ ...parts, resource: REMEDY_OPERATION_JOBS });
    const policies = createView<DefenderPolicy>({ ...parts, resource: DEFENDER_POLICIES });
    const ledgers = createView<DefenderLedger>({ ...parts, resource: DEFENDER_LEDGERS });
    const tiles = createTiles(cluster, machines.store);
    ({ store } = machines);
    const views = [machines, sets, jobs, policies, ledgers];
    const minute = (): number => (sets.store.list().some(hasClosedTimes) ? minuteOf(clock.now()) : 0);
    const compute = (): ClusterRows => ({
      machines: tiles(),
      rollouts: rolloutCards(cluster, sets.store.list(), {
        machines: machines.store.list(),
        now: clock.now(),
      }),
      repairs: repairCards(cluster, jobs.store.list()),
      limits: limitLines(cluster, policies.store.list()),
      grants: grantLines(cluster, ledgers.store.get(LEDGER)),
      notes: defenderNotes(cluster, policies.store.list(), ledgers.store.get(LEDGER)),
    });
    return { views, current: untilChange(views, compute, minute) };
  });
  return {
    ...feed,
    machine(name) {
      const machine = store?.get(name);
      return machine && { components: componentRows(machine), conditions: badConditionRows(machine) };
    },
  };
}

/** Tells whether a set is closed at times, which no change of an object announces. */
function hasClosedTimes({ spec, status }: MachineComponentSet): boolean {
  const { windows, freezes } = spec.rollout;
  return windows.length > 0 || freezes.length > 0 || status?.closedTimes !== undefined;
}

function minuteOf(now: Date): number {
  return Math.floor(now.getTime() / 60_000);
}

/**
 * Returns a function that computes the state again only after a change in one of the views, or of the version: of many clusters, few
 * change at once.
 */
export function untilChange<State>(
  views: readonly { readonly store: Pick<Store<never>, 'subscribe'> }[],
  compute: () => State,
  version: () => number = () => 0,
): () => State {
  let known: { readonly state: State; readonly version: number } | undefined;
  const forget = (): void => {
    known = undefined;
  };
  for (const { store } of views) store.subscribe({ added: forget, updated: forget, removed: forget });
  return () => {
    const current = version();
    if (known?.version !== current) known = { state: compute(), version: current };
    return known.state;
  };
}

/**
 * The tile of a machine is computed once for each of its changes, and stays the same object. So do the rows until a machine changes:
 * what changes elsewhere copies and compares none of 10,000.
 */
export function createTiles(
  cluster: string,
  store: Pick<Store<Machine>, 'get' | 'subscribe'>,
): () => RowsByKey<MachineTile> {
  // Rows are made from a Map: to copy an object of 10,000 keys takes five times as long.
  const tiles = new Map<string, MachineTile>();
  const changed = new Set<string>();
  let rows: RowsByKey<MachineTile> = {};
  const remember = ({ metadata }: Machine): void => void changed.add(metadata.name);
  store.subscribe({ added: remember, updated: remember, removed: remember });
  return () => {
    if (changed.size === 0) return rows;
    for (const name of changed) replaceTile(name);
    changed.clear();
    rows = Object.fromEntries(tiles);
    return rows;
  };

  function replaceTile(name: string): void {
    const machine = store.get(name);
    const key = `${cluster}/${name}`;
    if (machine) tiles.set(key, machineTile(machine));
    else tiles.delete(key);
  }
}

function rolloutCards(
  cluster: string,
  sets: readonly MachineComponentSet[],
  { machines, now }: { readonly machines: readonly Machine[]; readonly now: Date },
): ClusterRows['rollouts'] {
  const cards = sets.map((set) => {
    const isOver = rolloutOutcome(set).state === 'Completed';
    const inWork = isOver ? [] : machines.flatMap((machine) => machineInWork(machine, set) ?? []);
    return [`${cluster}/${set.metadata.name}`, rolloutCard(cluster, set, inWork, now)] as const;
  });
  return Object.fromEntries(cards);
}
