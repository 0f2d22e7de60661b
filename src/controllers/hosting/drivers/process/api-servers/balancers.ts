/** The balancers before several API servers: how each is started and recognized. */
import { join } from 'node:path';
import { optional } from '../../../../../kube/objects/optional.ts';
import type { Layout } from '../../../../../local/layout.ts';
import type { FleetState } from '../../../../../local/state.ts';
import type { Command } from '../../../../../os/process/child.ts';
import { readyPortsIn } from '../../../balancer/health.ts';
import { API_SERVERS, BALANCERS } from '../../driver.ts';
import { askHealth, type MemberAnswer, type MemberSpec } from '../member-spec.ts';

/** Returns the command of a balancer, or of a gateway. */
export type BalancerCommand = (options: {
  /** The port of clients. */
  readonly port: number;
  /** Whether it listens on all addresses of this machine, and not on loopback. */
  readonly isOutside?: boolean;
  readonly healthPort: number;
  /** The ports of the API servers, also of those that do not run. */
  readonly backends: readonly number[];
  /** The file with the CA of the API servers. */
  readonly caFile: string;
}) => Command;

interface BalancerParts {
  readonly state: FleetState;
  readonly layout: Layout;
  readonly balancer: BalancerCommand;
}

/** The balancers have the port of clients. Only a control plane with several API servers has any. */
export function balancerMembers({ state, layout, balancer }: BalancerParts): readonly MemberSpec[] {
  const [cluster] = state.clusters;
  if (!cluster?.apiServers) return [];
  const { port, name } = cluster;
  const { ports: backends, balancerPorts } = cluster.apiServers;
  const caFile = join(layout.cluster(name).pkiFolder, 'ca.crt');
  return BALANCERS.flatMap((member, index): MemberSpec | readonly MemberSpec[] => {
    const healthPort = balancerPorts[index];
    if (healthPort === undefined) return [];
    const command = balancer({ port, healthPort, backends, caFile });
    const marks = [`--health-port=${healthPort}`, `--ca-file=${caFile}`];
    return {
      member,
      command,
      port: healthPort,
      logFile: `${layout.logs}/${member}.log`,
      matches: (found) => marks.every((mark) => found.includes(mark)),
      probe: () => probeBalancer(healthPort, backends),
    };
  });
}

async function probeBalancer(healthPort: number, backends: readonly number[]): Promise<MemberAnswer> {
  const answer = await askHealth(healthPort);
  const ready = readyPortsIn(answer?.body ?? '');
  const reaches = ready && API_SERVERS.filter((_, index) => ready.includes(backends[index] ?? 0));
  return { isReady: answer?.status === 200, ...optional('reaches', reaches) };
}
