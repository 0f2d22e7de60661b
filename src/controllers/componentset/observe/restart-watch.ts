/** Finds restarted containers on the machines of open batches, from one view of Pods. Remembers only what Pods do not tell: how often each had restarted when the update of its machine ended. */
import type { KubeObject } from '../../../kube/objects/object.ts';
import type { Patrol } from '../machine/member-state.ts';
import {
  judgeRestarts,
  type PodRestarts,
  podRestarts,
  type RestartBaselines,
  restartBaselines,
} from './pod-restarts.ts';

/** The part of the view of Pods that is used. */
export interface RestartedPods {
  /** Returns the Pods on the node with at least one restart. */
  on(node: string): readonly KubeObject[];
  /** Returns why the Pods are not known now. Undefined: they are. */
  staleReason(): string | undefined;
}

/** Identifies a batch of a set. */
export interface WatchedBatch {
  readonly set: string;
  readonly revision: string;
  readonly index: number;
}

export interface RestartWatch {
  /** Judges the restarts on a machine. `since` is when its update ended; undefined: not known. */
  patrol(machine: string, since: Date | undefined, batch: WatchedBatch): Patrol;
  /** Drops the baselines of a set of which no batch is open. */
  forget(set: string): void;
}

interface Memory {
  readonly batch: WatchedBatch;
  readonly machines: Map<string, { readonly since: Date; readonly baselines: RestartBaselines }>;
}

export function createRestartWatch(pods: RestartedPods): RestartWatch {
  const memories = new Map<string, Memory>();
  return {
    patrol: (machine, since, batch) => {
      const stale = pods.staleReason();
      if (stale !== undefined) {
        return { result: 'Unknown', because: `restarts of its Pods are not known: ${stale}` };
      }
      const found = pods.on(machine).map(podRestarts);
      if (since) return judgeRestarts(found, baselinesOf(machine, { since, batch, found }), since);
      if (found.length === 0) return { result: 'Pass', because: 'no new problem' };
      return {
        result: 'Unknown',
        because: 'restarts of its Pods are not known: its agent reports no time of the update',
      };
    },
    forget: (set) => void memories.delete(set),
  };

  /**
   * Returns the baselines of a machine. After a restart of the process they are taken again, from what Pods report about the
   * time before.
   */
  function baselinesOf(
    machine: string,
    { since, batch, found }: { since: Date; batch: WatchedBatch; found: readonly PodRestarts[] },
  ): RestartBaselines {
    const { machines } = memoryOf(batch);
    const known = machines.get(machine);
    if (known && +known.since === +since) return known.baselines;
    const baselines = restartBaselines(found, since);
    machines.set(machine, { since, baselines });
    return baselines;
  }

  function memoryOf(batch: WatchedBatch): Memory {
    const known = memories.get(batch.set);
    if (known?.batch.revision === batch.revision && known.batch.index === batch.index) return known;
    const memory: Memory = { batch, machines: new Map() };
    memories.set(batch.set, memory);
    return memory;
  }
}
