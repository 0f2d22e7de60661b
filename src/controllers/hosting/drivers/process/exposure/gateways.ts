/** The gateways before a control plane that other machines reach: how each is started and recognized. */
import { join } from 'node:path';
import type { Layout } from '../../../../../local/layout.ts';
import type { FleetState } from '../../../../../local/state.ts';
import { GATEWAYS } from '../../driver.ts';
import type { BalancerCommand } from '../api-servers/balancers.ts';
import { type MemberSpec, probeHealth } from '../member-spec.ts';

interface GatewayParts {
  readonly state: FleetState;
  readonly layout: Layout;
  readonly balancer: BalancerCommand;
}

/** A gateway relays to the port of clients on loopback, so that it stays as it is when the number of API servers changes. */
export function gatewayMembers({ state, layout, balancer }: GatewayParts): readonly MemberSpec[] {
  const [cluster] = state.clusters;
  if (!cluster?.exposure) return [];
  const { port, gatewayPorts } = cluster.exposure;
  const caFile = join(layout.cluster(cluster.name).pkiFolder, 'ca.crt');
  return GATEWAYS.flatMap((member, index): MemberSpec | readonly MemberSpec[] => {
    const healthPort = gatewayPorts[index];
    if (healthPort === undefined) return [];
    const marks = [`--health-port=${healthPort}`, `--ca-file=${caFile}`];
    return {
      member,
      command: balancer({ port, isOutside: true, healthPort, backends: [cluster.port], caFile }),
      port: healthPort,
      logFile: `${layout.logs}/${member}.log`,
      matches: (found) => marks.every((mark) => found.includes(mark)),
      probe: () => probeHealth(healthPort),
    };
  });
}
