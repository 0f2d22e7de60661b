/** Builds what a driver is asked for from the spec of a Cluster. Pure. */
import type { Cluster } from '../../../api/generated/types.ts';
import type { PlaneSpec } from '../drivers/driver.ts';
import type { Hosted } from './input.ts';

export function planeOf({ metadata }: Cluster, hosted: Hosted): PlaneSpec {
  const { version, network, etcd, pki, apiServer, controllerManager, scheduler } = hosted;
  return {
    name: metadata.name,
    uid: metadata.uid ?? '',
    version,
    apiServers: hosted.replicas,
    settings: {
      ...network,
      quotaMiB: etcd.quotaMiB,
      // A control plane with one member has the settings, and their digest, that it had before there could be several.
      ...(etcd.replicas === 1 ? {} : { etcdReplicas: etcd.replicas }),
      leafLifetimeSeconds: pki.leafLifetimeSeconds,
      renewAtPercent: pki.renewAtPercent,
      apiServer: apiServer.extraArgs,
      controllerManager: controllerManager.extraArgs,
      scheduler: scheduler.extraArgs,
    },
  };
}
