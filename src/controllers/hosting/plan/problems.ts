/** Finds why a Cluster cannot be hosted with its spec. Pure. */
import { isIP } from 'node:net';
import type { Cluster } from '../../../api/generated/types.ts';
import { inactiveFields, inactiveFieldText } from '../../../api/inactive/find.ts';
import { clusterNameReason } from '../../../api/validation/cluster-name.ts';
import { refusedHost } from './exposure/outside.ts';
import { type FlagPart, isAllowedFlag } from './flags.ts';
import type { Hosted } from './input.ts';

/** The DNS name is part of a certificate. */
const DNS_NAME = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;

export function hostingProblems(cluster: Cluster, hosted: Hosted): readonly string[] {
  return [
    ...inactiveFields(cluster).map(inactiveFieldText),
    ...nameProblems(cluster),
    ...lifetimeProblems(cluster, hosted),
    ...rangeProblems(hosted),
    ...exposureProblems(hosted),
    ...flagProblems('apiServer', hosted.apiServer.extraArgs),
    ...flagProblems('controllerManager', hosted.controllerManager.extraArgs),
    ...flagProblems('scheduler', hosted.scheduler.extraArgs),
  ];
}

/** The name is that of a folder, and of the cluster in files and certificates. The API server also accepts dots in it. */
function nameProblems({ metadata: { name } }: Cluster): readonly string[] {
  const hint = clusterNameReason(name);
  return hint === undefined ? [] : [`metadata.name: ${name} cannot be the name of a hosted cluster: ${hint}`];
}

/** The policy for protected objects trusts hosting, so that hosting itself must respect the protection. */
function lifetimeProblems({ spec }: Cluster, { ttlSecondsAfterReady }: Hosted): readonly string[] {
  if (ttlSecondsAfterReady === undefined || !spec.deletion.protection) return [];
  return [
    'spec.hosted.ttlSecondsAfterReady: a protected Cluster is never deleted by its age: set spec.deletion.protection to false',
  ];
}

function rangeProblems({ network }: Hosted): readonly string[] {
  const { podCIDR, serviceCIDR, serviceDomain } = network;
  const domain = DNS_NAME.test(serviceDomain)
    ? []
    : [
        `spec.hosted.network.serviceDomain: ${serviceDomain} is not a DNS name: use one such as cluster.local`,
      ];
  const ranges = Object.entries({ podCIDR, serviceCIDR }).flatMap(([name, range]) =>
    isIP(range.split('/')[0] ?? '') === 4
      ? []
      : [`spec.hosted.network.${name}: ${range} is not an IPv4 range: use one such as 10.244.0.0/16`],
  );
  return [...ranges, ...domain];
}

/** A node port is on every node, so that only a person knows which of them clients reach. */
function exposureProblems(hosted: Hosted): readonly string[] {
  const { exposure } = hosted;
  const reason = refusedHost(hosted);
  if (reason !== undefined) return [`spec.hosted.exposure.host: ${exposure.host} is refused: ${reason}`];
  if (exposure.type !== 'NodePort' || exposure.host !== undefined) return [];
  return [
    'spec.hosted.exposure.host: NodePort needs the name or address of a node, or of a load balancer in front of the nodes',
  ];
}

function flagProblems(part: FlagPart, flags: Readonly<Record<string, string>>): readonly string[] {
  return Object.keys(flags).flatMap((name) =>
    isAllowedFlag(part, name)
      ? []
      : [`spec.hosted.${part}.extraArgs.${name}: a Cluster may not set this flag: remove it`],
  );
}
