/** Finds why a Cluster cannot be hosted with its spec. Pure. */
import { isIP } from 'node:net';
import type { Cluster } from '../../../api/generated/types.ts';
import { inactiveFields, inactiveFieldText } from '../../../api/inactive/find.ts';
import type { Hosted } from './input.ts';

/** Flags that name a file, a folder or a program of the machine, which a Cluster must not choose. */
const NAMES_FILE = /(^|-)(file|files|path|dir|config|kubeconfig|cert|key|ca|keys)$/;
/** Flags by which a member is recognized, is reached and is kept closed. */
const OURS =
  /^(etcd-.*|secure-port|bind-address|advertise-address|service-cluster-ip-range|cluster-cidr|authorization-.*|authentication-.*|anonymous-auth|client-ca-.*|tls-.*|service-account-.*|leader-elect.*|kubeconfig|master|enable-bootstrap-token-auth|endpoint-reconciler-type|root-ca-.*|cluster-signing-.*|allocate-node-cidrs|use-service-account-credentials|controllers)$/;
const FLAG = /^[a-z0-9][a-z0-9-]{0,62}$/;

export function hostingProblems(cluster: Cluster, hosted: Hosted): readonly string[] {
  return [
    ...inactiveFields(cluster).map(inactiveFieldText),
    ...rangeProblems(hosted),
    ...flagProblems('apiServer', hosted.apiServer.extraArgs),
    ...flagProblems('controllerManager', hosted.controllerManager.extraArgs),
    ...flagProblems('scheduler', hosted.scheduler.extraArgs),
  ];
}

function rangeProblems({ network }: Hosted): readonly string[] {
  const { podCIDR, serviceCIDR } = network;
  return Object.entries({ podCIDR, serviceCIDR }).flatMap(([name, range]) =>
    isIP(range.split('/')[0] ?? '') === 4
      ? []
      : [`spec.hosted.network.${name}: ${range} is not an IPv4 range: use one such as 10.244.0.0/16`],
  );
}

function flagProblems(part: string, flags: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(flags).flatMap(([name, value]) => {
    const why = flagProblem(name, value);
    return why === undefined ? [] : [`spec.hosted.${part}.extraArgs.${name}: ${why}: remove it`];
  });
}

function flagProblem(name: string, value: string): string | undefined {
  if (!FLAG.test(name)) return 'it is not the name of a flag';
  if (OURS.test(name)) return 'hosting sets this flag itself';
  if (NAMES_FILE.test(name) || value.startsWith('/') || value.includes('=/')) {
    return 'a Cluster may name no file of the machine that hosts it';
  }
  return undefined;
}
