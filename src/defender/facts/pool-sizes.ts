/**
 * Counts how many machines each pool has to have, and misses: the replicas of its MachineSets, less those that were Ready. Each
 * change updates the counts.
 */

import { poolOf } from '../../api/diagnosis/dimensions.ts';
import type { MachineSet } from '../../api/generated/types.ts';
import { LABEL_MACHINESET } from '../../api/names.ts';
import type { MachineFacts } from './facts.ts';
import { NO_KEY } from './grouping.ts';

export interface PoolSizes {
  putMachine(machine: MachineFacts): void;
  removeMachine(name: string): void;
  putSet(set: MachineSet): void;
  removeSet(name: string): void;
  missingIn(pool: string): number;
  /** Returns the replicas of the MachineSets of the pool plus its machines that belong to no set. */
  desiredIn(pool: string): number;
}

interface Placed {
  readonly pool: string;
  readonly set: string | undefined;
  readonly established: boolean;
}

export function createPoolSizes(): PoolSizes {
  const machines = new Map<string, Placed>();
  const sets = new Map<string, { readonly pool: string; readonly replicas: number }>();
  const establishedIn = new Map<string, number>();
  /** Machines without a set that were never Ready, by pool. */
  const joining = new Map<string, number>();

  return {
    putMachine: ({ name, pool = NO_KEY, labels, established }) => {
      removeMachine(name);
      const placed = { pool, set: labels[LABEL_MACHINESET], established };
      machines.set(name, placed);
      count(placed, 1);
    },
    removeMachine,
    putSet: ({ metadata: { name, deletionTimestamp }, spec: { replicas, template } }) =>
      void sets.set(name, {
        pool: poolOf({ [LABEL_MACHINESET]: name, ...template.labels }) ?? name,
        replicas: deletionTimestamp === undefined ? replicas : 0,
      }),
    removeSet: (name) => void sets.delete(name),
    missingIn: (pool) => {
      let missing = joining.get(pool) ?? 0;
      for (const [name, set] of sets) {
        if (set.pool === pool) missing += Math.max(0, set.replicas - (establishedIn.get(name) ?? 0));
      }
      return missing;
    },
    desiredIn: (pool) => {
      const ofPool = [...sets.values()].filter((set) => set.pool === pool);
      const others = [...machines.values()].filter((placed) => placed.pool === pool && !isOfSet(placed));
      return ofPool.reduce((sum, { replicas }) => sum + replicas, others.length);
    },
  };

  function isOfSet({ set }: Placed): boolean {
    return set !== undefined && sets.has(set);
  }

  function removeMachine(name: string): void {
    const before = machines.get(name);
    if (!before) return;
    machines.delete(name);
    count(before, -1);
  }

  function count({ set, pool, established }: Placed, change: 1 | -1): void {
    if (set !== undefined) {
      if (established) add(establishedIn, set, change);
    } else if (!established) add(joining, pool, change);
  }
}

function add(counts: Map<string, number>, key: string, change: number): void {
  counts.set(key, (counts.get(key) ?? 0) + change);
}
