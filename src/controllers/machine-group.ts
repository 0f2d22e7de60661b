/** The controllers of machines: all that they watch is in the views of the Defender and of the identity of agents. */
import { PRINCIPAL_MACHINE, PRINCIPAL_MACHINESET } from '../api/names.ts';
import { optional } from '../kube/objects/optional.ts';
import type { ControllerGroup, GroupParts } from './group.ts';
import { createMachineController } from './machine/controller.ts';
import { createCreationPreflight } from './machine/instance/preflight/observe.ts';
import { createMachineSetController } from './machineset/controller.ts';
import { createOrphanSweepController } from './orphansweep/controller.ts';

export async function createMachineControllers({
  connectAs,
  grants,
  openInstances,
  openImports,
  power,
  metrics,
  clock,
}: GroupParts): Promise<ControllerGroup> {
  const client = await connectAs(PRINCIPAL_MACHINE);
  const hosts = await openImports(client);
  const imports = optional('imports', hosts);
  const opened = await openInstances(client, hosts);
  const preflight = createCreationPreflight(client, clock);
  const instances = optional('instances', opened && { ...opened, preflight });
  const incompleteCleanups = metrics.counter({
    name: 'incomplete_host_cleanups_total',
    help: 'Imported hosts whose Machine was deleted and that may not be as they were before, by reason.',
    labels: ['reason'],
  });
  const left = metrics.gauge({
    name: 'orphan_instances',
    help: 'Instances of providers whose Machine does not exist, by provider and by why they are left.',
    labels: ['provider', 'reason'],
  });
  return {
    controllers: [
      createMachineController({
        client,
        grants,
        ...instances,
        ...imports,
        power: { switches: power, clock },
        incompleteCleanups,
      }),
      createMachineSetController({ client: await connectAs(PRINCIPAL_MACHINESET), grants }),
      ...(opened ? [createOrphanSweepController({ client, grants, left, ...opened })] : []),
    ],
    views: {},
    ...optional('providers', opened?.providers),
  };
}
