/** The controllers of MachineComponentSets and MachineComponents, and the views that they need. Machines, Nodes and grants are in those of the Defender. */
import {
  MACHINE_COMPONENT_SETS,
  MACHINE_COMPONENTS,
  MACHINE_SETS,
  MACHINES,
} from '../api/generated/resources.ts';
import {
  MANAGER_COMPONENTSET,
  MANAGER_MACHINECOMPONENT,
  NAMESPACE,
  PRINCIPAL_COMPONENTSET,
  PRINCIPAL_DEFENDER,
} from '../api/names.ts';
import { createView, type View } from '../kube/cache/view.ts';
import type { Client } from '../kube/client/client.ts';
import type { Views } from '../kube/controller/views.ts';
import { ENDPOINT_SLICES } from '../kube/objects/core-kinds.ts';
import { createCheckScheduler } from '../rollout/checks/scheduler.ts';
import { registerStalledObjects } from '../rollout/stalled.ts';
import { createComponentSetController } from './componentset/controller.ts';
import { registerRolloutMetrics } from './componentset/metrics.ts';
import { createPodView, restartedPods } from './componentset/observe/pod-view.ts';
import { createRestartWatch } from './componentset/observe/restart-watch.ts';
import { CONTROLLER_REVISIONS } from './componentset/revision/stored-revisions.ts';
import { createServerVersionsReader, type ReadServerVersions } from './componentset/servers/read-versions.ts';
import { createServerView, publishedServers } from './componentset/servers/server-view.ts';
import type { ControllerGroup, GroupParts } from './group.ts';
import { createMachineComponentController } from './machinecomponent/controller.ts';

/** Kinds whose controllers report Stalled. */
const STALLING = [MACHINES, MACHINE_SETS, MACHINE_COMPONENT_SETS].map(({ kind }) => kind);
/** `Pod` is the view of the Defender, of those that block. */
const POD_VIEW = 'RestartedPod';
/** In the certificate of every API server. */
const SERVER_NAME = 'kubernetes.default.svc';

export async function createRolloutControllers(parts: GroupParts): Promise<ControllerGroup> {
  const { connectAs, connectTo, grants, clock, random, log, watch } = parts;
  const client = await connectAs(PRINCIPAL_COMPONENTSET);
  const shared = { client, clock, random, log, metrics: watch };
  const servers = createServerView(shared);
  const readServers = serversReader({ client, servers, connectTo, clock });
  const views = [
    createView({ ...shared, resource: MACHINE_COMPONENT_SETS, managers: [MANAGER_COMPONENTSET] }),
    createView({ ...shared, resource: MACHINE_COMPONENTS, managers: [MANAGER_MACHINECOMPONENT] }),
    createView({ ...shared, resource: CONTROLLER_REVISIONS, namespace: NAMESPACE }),
  ];
  const byKind = Object.fromEntries(views.map((view) => [view.resource.kind, view]));
  // As the Defender, which reads Pods in this process anyway: no other account needs that right.
  const pods = createPodView({ ...shared, client: await connectAs(PRINCIPAL_DEFENDER) });
  registerStalledObjects(parts.metrics, { ...parts.views, ...byKind }, STALLING);
  return {
    controllers: [
      createComponentSetController({
        grants,
        readServers,
        restarts: createRestartWatch(restartedPods(pods)),
        createChecks: (onResult) => createCheckScheduler(parts.checkRunner, clock, onResult),
        metrics: registerRolloutMetrics(parts.metrics),
      }),
      createMachineComponentController(),
    ],
    views: { ...byKind, [servers.resource.kind]: servers, [POD_VIEW]: pods },
  };
}

/** Reads the versions of the API servers from the view of the component sets, for others in this process. */
export async function createServersReader(
  { connectAs, connectTo, clock }: Pick<GroupParts, 'connectAs' | 'connectTo' | 'clock'>,
  views: Views,
): Promise<ReadServerVersions> {
  const servers = views[ENDPOINT_SLICES.kind];
  if (!servers) throw new Error('the addresses of the API servers are not watched');
  return serversReader({ client: await connectAs(PRINCIPAL_COMPONENTSET), servers, connectTo, clock });
}

interface ServersParts extends Pick<GroupParts, 'connectTo' | 'clock'> {
  readonly client: Client;
  readonly servers: View;
}

function serversReader({ client, servers, connectTo, clock }: ServersParts): ReadServerVersions {
  return createServerVersionsReader({
    client,
    servers: publishedServers(servers),
    connectTo: (url) => connectTo(PRINCIPAL_COMPONENTSET, { url, servername: SERVER_NAME }),
    clock,
  });
}
