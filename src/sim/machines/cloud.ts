/** Simulates the provider of a cluster: instances that start, stop and end over time. */
import { type Instance, type InstanceRequest, ProviderError } from '../../providers/contract.ts';
import type { Random } from '../random.ts';

export interface CloudInstance extends Pick<Instance, 'id' | 'machine' | 'tags' | 'zone'> {
  readonly createdMs: number;
  state: 'Running' | 'Stopped';
  /** The time from which its host may join the cluster. */
  joinsMs: number;
  /** The time when nothing of it is left; undefined unless it is being deleted. */
  endsMs: number | undefined;
}

export interface SimulatedCloud {
  /** Returns the id of the instance that exists with this UID, or of a new one. */
  create(request: InstanceRequest): string;
  get(id: string): CloudInstance | undefined;
  list(): readonly CloudInstance[];
  /** Deletes an instance. Returns the time when nothing of it is left. */
  delete(id: string): number;
  start(id: string): void;
  /** Ends the instances that are being deleted and whose time has come. */
  step(): void;
}

export interface CloudOptions {
  readonly nowMs: () => number;
  readonly random: Random;
  readonly isCalm: () => boolean;
  readonly created: (instance: CloudInstance) => void;
  readonly deleting: (instance: CloudInstance) => void;
}

/** The time of a host that never joins, until a person looks. */
export const NEVER_JOINS = Number.POSITIVE_INFINITY;
const BAD_HOST = 0.05;
const SECOND_MS = 1000;

export function createSimulatedCloud(options: CloudOptions): SimulatedCloud {
  const { nowMs, random } = options;
  const instances = new Map<string, CloudInstance>();
  const ended = new Set<string>();
  return {
    create,
    get: (id) => instances.get(id),
    list: () => [...instances.values()],
    delete: remove,
    start: (id) => {
      const instance = instances.get(id);
      if (instance) Object.assign(instance, { state: 'Running', joinsMs: joinsFrom() });
    },
    step: () => {
      for (const { id, endsMs = NEVER_JOINS } of instances.values()) if (endsMs <= nowMs()) end(id);
    },
  };

  function create({ machine, tags, zone }: InstanceRequest): string {
    const id = `local:///${tags.machineUid}`;
    if (ended.has(id)) throw new ProviderError('Terminal', 'it was deleted', { reason: 'Deleted' });
    if (instances.has(id)) return id;
    const instance: CloudInstance = {
      id,
      machine,
      tags,
      ...(zone === undefined ? {} : { zone }),
      createdMs: nowMs(),
      state: 'Running',
      joinsMs: joinsFrom(),
      endsMs: undefined,
    };
    instances.set(id, instance);
    options.created(instance);
    return id;
  }

  function joinsFrom(): number {
    if (!options.isCalm() && random.chance(BAD_HOST)) return NEVER_JOINS;
    return nowMs() + (10 + random.below(60)) * SECOND_MS;
  }

  function remove(id: string): number {
    const instance = instances.get(id);
    if (!instance) return nowMs();
    if (instance.endsMs === undefined) {
      options.deleting(instance);
      instance.endsMs = nowMs() + (1 + random.below(30)) * SECOND_MS;
    }
    return instance.endsMs;
  }

  function end(id: string): void {
    instances.delete(id);
    ended.add(id);
  }
}
