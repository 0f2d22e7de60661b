/** The provider as one process calls it: slow, throttled, with errors, and with time-outs after it did what it was asked for. */
import {
  type Instance,
  type InstanceFilter,
  type Provider,
  ProviderError,
} from '../../providers/contract.ts';
import type { Random } from '../random.ts';
import type { CloudInstance, SimulatedCloud } from './cloud.ts';
import type { VirtualWaits } from './virtual-waits.ts';

export interface SimulatedProviderOptions {
  readonly cloud: SimulatedCloud;
  readonly random: Random;
  readonly nowMs: () => number;
  readonly isCalm: () => boolean;
  readonly waits: VirtualWaits;
  /** Throws when the process was killed. */
  readonly live: () => void;
  /** A create of a UID that this process did not search since the last one. */
  readonly unsearched: (machine: string) => void;
}

const SERVER_ERROR = 0.05;
const TIMED_OUT = 0.1;
const THROTTLED = 0.03;
const SLOW = 0.5;
const LONGEST_S = 30;
/** So long `get` may not know a new instance. */
const UNLISTED_MS = 30_000;

export function createSimulatedProvider(options: SimulatedProviderOptions): Provider {
  const { cloud, random, nowMs, isCalm, waits, live } = options;
  const searched = new Set<string>();
  return {
    name: 'local',
    capabilities: { power: true, events: false, startsStopped: true },
    hasInstance: ({ config }) => 'type' in config,
    configReason: () => undefined,
    needsBootstrap: () => true,
    create: async (request) => {
      const { machineUid } = request.tags;
      if (!searched.delete(machineUid)) options.unsearched(request.machine);
      return await call(() => cloud.create(request));
    },
    get: async (id) => {
      searched.add(id.slice('local:///'.length));
      return await call(() => listed(cloud.get(id)));
    },
    find: async (filter) => {
      if (filter.machineUid !== undefined) searched.add(filter.machineUid);
      return await call(() =>
        cloud
          .list()
          .filter(({ tags }) => isOf(tags, filter))
          .map(instanceOf),
      );
    },
    delete: async (id) => {
      const endsMs = await call(() => cloud.delete(id));
      if (endsMs > nowMs()) await waits.wait(endsMs - nowMs());
      live();
    },
    power: async (id, action) => {
      await call(() => {
        if (action === 'on') cloud.start(id);
      });
    },
    events: async () => [],
  };

  async function call<T>(act: () => T): Promise<T> {
    await Promise.resolve();
    live();
    if (isCalm()) return act();
    refuse();
    const isLate = random.chance(0.5);
    const done = isLate ? undefined : { answer: act() };
    if (random.chance(SLOW)) await waits.wait(random.below(LONGEST_S) * 1000);
    live();
    const { answer } = done ?? { answer: act() };
    if (random.chance(TIMED_OUT)) throw new ProviderError('Ambiguous', 'the answer was lost');
    return answer;
  }

  function refuse(): void {
    if (random.chance(SERVER_ERROR)) throw new ProviderError('Retryable', 'the server failed');
    if (!random.chance(THROTTLED)) return;
    const retryAfterSeconds = 5 + random.below(30);
    throw new ProviderError('Retryable', 'too many requests', { retryAfterSeconds });
  }

  function listed(instance: CloudInstance | undefined): Instance | undefined {
    const isNew = instance !== undefined && nowMs() - instance.createdMs < UNLISTED_MS;
    return !instance || (isNew && random.chance(0.3)) ? undefined : instanceOf(instance);
  }
}

function isOf(
  tags: CloudInstance['tags'],
  { clusterUid, machineUid = tags.machineUid }: InstanceFilter,
): boolean {
  return tags.clusterUid === clusterUid && tags.machineUid === machineUid;
}

function instanceOf({ createdMs, ...instance }: CloudInstance): Instance {
  const { id, machine, tags, zone, state } = instance;
  const found = { id, machine, tags, state, addresses: [], createdAt: new Date(createdMs) };
  return zone === undefined ? found : { ...found, zone };
}
