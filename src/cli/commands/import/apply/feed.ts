/** Feeds the progress of an import, from a watch of the Machines. */
import { MACHINES } from '../../../../api/generated/resources.ts';
import type { Machine } from '../../../../api/generated/types.ts';
import { createLiveFeed, type LiveFeed } from '../../../../kube/cache/live-feed.ts';
import { createView } from '../../../../kube/cache/view.ts';
import type { Client } from '../../../../kube/client/client.ts';
import type { KubeObject } from '../../../../kube/objects/object.ts';
import type { Clock } from '../../../../os/clock.ts';
import { type ExpectedMachine, type ImportProgress, importProgress } from './progress.ts';

export interface ImportFeedOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly expected: readonly ExpectedMachine[];
}

export function createImportFeed({ expected, ...options }: ImportFeedOptions): LiveFeed<ImportProgress> {
  const names = new Set(expected.map(({ name }) => name));
  return createLiveFeed(options, (parts) => {
    const machines = createView<Machine>({
      ...parts,
      resource: MACHINES,
      transform: (object) => trimForProgress(object as Machine, names),
    });
    return {
      views: [machines],
      current: () => importProgress(expected, (name) => machines.store.get(name)),
    };
  });
}

/** Trims what the table does not show, because there may be 10,000 others. */
function trimForProgress(machine: Machine, names: ReadonlySet<string>): Machine {
  const { apiVersion, kind, metadata, spec, status } = machine;
  const { name, uid = '', resourceVersion = '', generation = 0 } = metadata;
  const isExpected = names.has(name);
  const trimmed: KubeObject = {
    apiVersion,
    kind,
    metadata: { name, uid, resourceVersion, generation },
    ...(isExpected && { spec: { components: [], infra: spec.infra } }),
    ...(isExpected && status && { status: { ...status, components: [], drift: [] } }),
  };
  return trimmed as Machine;
}
