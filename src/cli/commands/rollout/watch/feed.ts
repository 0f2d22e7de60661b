/** Feeds the live state of one rollout, from watches of its set and of the machines. */
import { MACHINE_COMPONENT_SETS, MACHINES } from '../../../../api/generated/resources.ts';
import type { Machine, MachineComponentSet } from '../../../../api/generated/types.ts';
import { createLiveFeed, type LiveFeed } from '../../../../kube/cache/live-feed.ts';
import { createView } from '../../../../kube/cache/view.ts';
import type { Client } from '../../../../kube/client/client.ts';
import type { KubeObject } from '../../../../kube/objects/object.ts';
import type { Clock } from '../../../../os/clock.ts';
import { machineInWork, type RolloutView, viewRollout } from '../../../../views/rollout/view.ts';

export interface FeedOptions {
  readonly client: Client;
  readonly set: string;
  readonly clock: Clock;
}

export function createRolloutFeed({ set: name, ...options }: FeedOptions): LiveFeed<RolloutView> {
  return createLiveFeed(options, (parts) => {
    const sets = createView<MachineComponentSet>({
      ...parts,
      resource: MACHINE_COMPONENT_SETS,
      fieldSelector: `metadata.name=${name}`,
    });
    const machines = createView<Machine>({
      ...parts,
      resource: MACHINES,
      transform: (object) => trimMachine(object as Machine, name),
    });
    return {
      views: [sets, machines],
      current() {
        const set = sets.store.get(name);
        if (!set) return undefined;
        return viewRollout(
          set,
          machines.store.list().flatMap((machine) => machineInWork(machine, set) ?? []),
        );
      },
    };
  });
}

/** Trims a Machine to what the view shows, because there may be 10,000: the entries of this set and what its agent reports of them. */
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
