/** The controllers of machines: all that they watch is in the views of the Defender and of the identity of agents. */
import { MACHINES, REMEDY_OPERATION_JOBS } from '../api/generated/resources.ts';
import type { Machine, RemedyOperationJob } from '../api/generated/types.ts';
import { PRINCIPAL_MACHINE, PRINCIPAL_MACHINESET } from '../api/names.ts';
import type { View } from '../kube/cache/view.ts';
import { optional } from '../kube/objects/optional.ts';
import { registerFleetMetrics, registerMachineInfo } from '../observability/fleet/register.ts';
import { INCOMPLETE_CLEANUPS, ORPHAN_INSTANCES } from '../observability/metrics/machine.ts';
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
  machineInfo,
  clock,
  views,
}: GroupParts): Promise<ControllerGroup> {
  const client = await connectAs(PRINCIPAL_MACHINE);
  const hosts = await openImports(client);
  const imports = optional('imports', hosts);
  const opened = await openInstances(client, hosts);
  const preflight = createCreationPreflight(client, clock);
  const instances = optional('instances', opened && { ...opened, preflight });
  const [machines, jobs] = [views[MACHINES.kind], views[REMEDY_OPERATION_JOBS.kind]];
  if (machines && jobs) {
    const counted = { machines: machines as View<Machine>, jobs: jobs as View<RemedyOperationJob> };
    registerFleetMetrics(metrics, counted, clock);
  }
  if (machines && machineInfo) registerMachineInfo(metrics, machines as View<Machine>);
  const incompleteCleanups = metrics.counter(INCOMPLETE_CLEANUPS);
  const left = metrics.gauge(ORPHAN_INSTANCES);
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
