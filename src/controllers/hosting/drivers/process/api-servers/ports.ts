/** Claims the ports of several API servers, and of the balancers before them. */
import type { ApiServersState } from '../../../../../local/state.ts';
import { API_SERVERS, BALANCERS } from '../../driver.ts';

/** Claims a port for each that there can be: their number changes, and the balancers need not be started again. Undefined: the only API server has that of clients. */
export async function newServers(
  count: number,
  claim: () => Promise<number>,
): Promise<ApiServersState | undefined> {
  if (count === 1) return undefined;
  const ports = await claimed(API_SERVERS.length, claim);
  return { replicas: count, ports, balancerPorts: await claimed(BALANCERS.length, claim) };
}

async function claimed(count: number, claim: () => Promise<number>): Promise<readonly number[]> {
  const ports: number[] = [];
  while (ports.length < count) ports.push(await claim());
  return ports;
}
