/** The live rows of one cluster of the console, from watches. Reads only kinds of kubenode: the role for viewers permits that. */
import {
  DEFENDER_LEDGERS,
  DEFENDER_POLICIES,
  MACHINE_COMPONENT_SETS,
  MACHINES,
  REMEDY_OPERATION_JOBS,
} from '../../../api/generated/resources.ts';
import type {
  DefenderLedger,
  DefenderPolicy,
  Machine,
  MachineComponentSet,
  RemedyOperationJob,
} from '../../../api/generated/types.ts';
import { LEDGER } from '../../../api/names.ts';
import type { ConsoleState, MachineTile, RowsByKey } from '../../../console/state/state.ts';
import type { Store } from '../../../kube/cache/store.ts';
import { createTransform } from '../../../kube/cache/trim.ts';
import { createView } from '../../../kube/cache/view.ts';
import type { Client } from '../../../kube/client/client.ts';
import type { Clock } from '../../../os/clock.ts';
import { createLiveFeed, type LiveFeed } from '../../live/feed.ts';
import { rolloutOutcome } from '../rollout/view/outcome.ts';
import { machineInWork } from '../rollout/view/view.ts';
import { grantLines, limitLines, machineTile, repairCards, rolloutCard } from './rows/cluster-rows.ts';

export type ClusterRows = Pick<ConsoleState, 'machines' | 'rollouts' | 'repairs' | 'limits' | 'grants'>;

export interface ClusterFeedOptions {
  readonly client: Client;
  readonly clock: Clock;
  /** Begins the keys of its rows. */
  readonly cluster: string;
}

/** What no row shows, of 10,000 machines. */
const UNUSED = ['status.facts', 'status.system', 'status.drift', 'status.preflight', 'status.repairs'];

export function createClusterFeed({ cluster, ...options }: ClusterFeedOptions): LiveFeed<ClusterRows> {
  return createLiveFeed(options, (parts) => {
    const transform = createTransform<Machine>(UNUSED);
    const machines = createView<Machine>({ ...parts, resource: MACHINES, transform });
    const sets = createView<MachineComponentSet>({ ...parts, resource: MACHINE_COMPONENT_SETS });
    const jobs = createView<RemedyOperationJob>({ ...parts, resource: REMEDY_OPERATION_JOBS });
    const policies = createView<DefenderPolicy>({ ...parts, resource: DEFENDER_POLICIES });
    const ledgers = createView<DefenderLedger>({ ...parts, resource: DEFENDER_LEDGERS });
    const tiles = createTiles(cluster, machines.store);
    return {
      views: [machines, sets, jobs, policies, ledgers],
      current: () => ({
        machines: tiles(),
        rollouts: rolloutCards(cluster, sets.store.list(), machines.store.list()),
        repairs: repairCards(cluster, jobs.store.list()),
        limits: limitLines(cluster, policies.store.list()),
        grants: grantLines(cluster, ledgers.store.get(LEDGER)),
      }),
    };
  });
}

/**
 * Objects of a store never change: the tile of one is computed once, and stays the same object. The rows stay the same object until
 * a machine changes, so that what changes elsewhere copies and compares none of 10,000.
 */
export function createTiles(
  cluster: string,
  store: Pick<Store<Machine>, 'list' | 'subscribe'>,
): () => RowsByKey<MachineTile> {
  const known = new WeakMap<Machine, MachineTile>();
  let rows: RowsByKey<MachineTile> | undefined;
  const forget = (): void => void (rows = undefined);
  store.subscribe({ added: forget, updated: forget, removed: forget });
  return () => (rows ??= tileRows());

  function tileRows(): RowsByKey<MachineTile> {
    const entries = store.list().map((machine) => {
      const tile = known.get(machine) ?? machineTile(machine);
      known.set(machine, tile);
      return [`${cluster}/${machine.metadata.name}`, tile] as const;
    });
    return Object.fromEntries(entries);
  }
}

function rolloutCards(
  cluster: string,
  sets: readonly MachineComponentSet[],
  machines: readonly Machine[],
): ClusterRows['rollouts'] {
  const cards = sets.map((set) => {
    const isOver = rolloutOutcome(set).state === 'Completed';
    const inWork = isOver ? [] : machines.flatMap((machine) => machineInWork(machine, set) ?? []);
    return [`${cluster}/${set.metadata.name}`, rolloutCard(cluster, set, inWork)] as const;
  });
  return Object.fromEntries(cards);
}
