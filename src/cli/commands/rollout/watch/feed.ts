/** The live state of one rollout, from watches of its set and of the machines. */
import { MACHINE_COMPONENT_SETS, MACHINES } from '../../../../api/generated/resources.ts';
import type { Machine, MachineComponentSet } from '../../../../api/generated/types.ts';
import { createView } from '../../../../kube/cache/view.ts';
import type { Client } from '../../../../kube/client/client.ts';
import type { KubeObject } from '../../../../kube/objects/object.ts';
import type { Log } from '../../../../kube/process/log.ts';
import type { Clock } from '../../../../os/clock.ts';
import { systemRandom } from '../../../../os/system-random.ts';
import { machineInWork, type RolloutView, viewRollout } from '../view/view.ts';

export interface RolloutFeed {
  /** Undefined: the set was deleted. */
  current(): RolloutView | undefined;
  /** Why what is shown may be old; undefined: it is current. */
  staleReason(): string | undefined;
  /** Called at each change, also of whether it is stale. */
  subscribe(handler: () => void): void;
  /** Runs until the signal; resolves when both watches have ended. */
  run(signal: AbortSignal): Promise<void>;
  /** Resolves when the first state is complete. */
  ready(signal: AbortSignal): Promise<void>;
}

export interface FeedOptions {
  readonly client: Client;
  readonly set: string;
  readonly clock: Clock;
}

export function createRolloutFeed({ client, set: name, clock }: FeedOptions): RolloutFeed {
  const handlers: (() => void)[] = [];
  const notify = (): void => {
    for (const handler of handlers) handler();
  };
  const options = { client, clock, random: systemRandom, log: notifyingLog(notify), recovered: notify };
  const sets = createView<MachineComponentSet>({
    ...options,
    resource: MACHINE_COMPONENT_SETS,
    fieldSelector: `metadata.name=${name}`,
  });
  const machines = createView<Machine>({
    ...options,
    resource: MACHINES,
    transform: (object) => trimMachine(object as Machine, name),
  });
  for (const { store } of [sets, machines]) {
    store.subscribe({ added: notify, updated: notify, removed: notify });
  }
  const reflectors = [sets.reflector, machines.reflector];

  return {
    current() {
      const set = sets.store.get(name);
      if (!set) return undefined;
      return viewRollout(
        set,
        machines.store.list().flatMap((machine) => machineInWork(machine, set) ?? []),
      );
    },
    staleReason() {
      const error = reflectors.map((reflector) => reflector.freshness().error).find(Boolean);
      return error && `the last state that was read: ${error.message}`;
    },
    subscribe: (handler) => void handlers.push(handler),
    run: async (signal) => void (await Promise.all(reflectors.map((reflector) => reflector.run(signal)))),
    ready: async (signal) =>
      void (await Promise.all(reflectors.map((reflector) => reflector.synced(signal)))),
  };
}

/** Of 10,000 machines only what the view shows is kept: the entries of this set and what their agents report of them. */
export function trimMachine({ apiVersion, kind, metadata, spec, status }: Machine, set: string): Machine {
  const { name, uid = '', resourceVersion = '' } = metadata;
  const entries = spec.components.filter(({ assignment }) => assignment?.set === set);
  const names = new Set(entries.map((entry) => entry.name));
  const reports = status?.components?.filter((report) => names.has(report.name)) ?? [];
  const trimmed: KubeObject = {
    apiVersion,
    kind,
    metadata: { name, uid, resourceVersion },
    spec: { components: entries },
    status: { components: reports, conditions: [] },
  };
  return trimmed as Machine;
}

/** A watch that fails is shown; its log is not. */
function notifyingLog(notify: () => void): Log {
  const log: Log = { debug: silent, info: silent, warn: notify, error: notify, with: () => log };
  return log;
}

function silent(): void {}
