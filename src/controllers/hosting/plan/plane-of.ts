/** Builds what a driver is asked for from the spec of a Cluster. Pure. */
import type { Cluster } from '../../../api/generated/types.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { MemberRequests, PlanePlacement, PlaneSpec } from '../drivers/driver.ts';
import { outsideOf } from './exposure/outside.ts';
import type { Hosted } from './input.ts';

export function planeOf({ metadata }: Cluster, hosted: Hosted): PlaneSpec {
  const { version, network, etcd, pki, apiServer, controllerManager, scheduler } = hosted;
  return {
    name: metadata.name,
    uid: metadata.uid ?? '',
    version,
    apiServers: hosted.replicas,
    ...(hosted.driver === 'workload' ? { placement: placementOf(hosted) } : {}),
    ...optional('outside', outsideOf(hosted)),
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

function placementOf(hosted: Hosted): PlanePlacement {
  const { etcd, exposure, apiServer, controllerManager, scheduler } = hosted;
  const { type, host, port } = exposure;
  return {
    storageGiB: etcd.storageGiB,
    exposure: { type, ...optional('host', host), port },
    requests: {
      'kube-apiserver': requestsOf(apiServer),
      'kube-controller-manager': requestsOf(controllerManager),
      'kube-scheduler': requestsOf(scheduler),
    },
  };
}

function requestsOf({ cpuMillis, memoryMiB }: Hosted['apiServer']): MemberRequests {
  return { ...optional('cpuMillis', cpuMillis), ...optional('memoryMiB', memoryMiB) };
}
