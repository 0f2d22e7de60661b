/** Claims the port at which other machines reach a control plane, and those for the health of its gateways. */

import type { ExposureState } from '../../../../../local/state.ts';
import { OsError } from '../../../../../os/errors.ts';
import { ALL_ADDRESSES, isPortFree } from '../../../../../os/net/ports.ts';
import { HostingError } from '../../../errors.ts';
import { GATEWAYS, type OutsideAddress } from '../../driver.ts';
import { claimPort, claimThisPort } from '../preparation/port-claims.ts';

export interface ClaimPlace {
  readonly folder: string;
  readonly cluster: string;
  /** A folder of the control plane on the same disk. */
  readonly scratch: string;
}

/** `before`: the gateways that have the port keep theirs. `own`: the ports that the control plane has, whether they are in use now or not. */
export async function claimExposure(
  { host, port }: OutsideAddress,
  { folder, cluster, scratch }: ClaimPlace,
  before?: ExposureState,
  own: readonly number[] = [],
): Promise<ExposureState> {
  if (before?.port === port) return { ...before, host };
  if (own.includes(port)) throw portOfOther(port, 'that of another member of this control plane');
  await requireAllowedPort(port);
  const owner = await claimThisPort(port, { folder, cluster, scratch });
  if (owner !== cluster) throw portOfOther(port, `that of Cluster ${owner}`);
  if (before) return { ...before, host, port };
  const gatewayPorts: number[] = [];
  while (gatewayPorts.length < GATEWAYS.length) gatewayPorts.push(await claimPort(folder, cluster, scratch));
  return { host, port, gatewayPorts };
}

/** A gateway that cannot have its port would be started again and again. */
async function requireAllowedPort(port: number): Promise<void> {
  try {
    if (await isPortFree(port, ALL_ADDRESSES)) return;
  } catch (error) {
    if (!(error instanceof OsError) || error.code !== 'NoAccess') throw error;
    throw new HostingError('PortNotAllowed', `the user of this hosting may not listen on port ${port}`, {
      where: String(port),
      hint: 'set spec.hosted.exposure.port to a port from 1024 on',
      cause: error,
    });
  }
  throw portOfOther(port, 'in use by another program');
}

function portOfOther(port: number, by: string): HostingError {
  return new HostingError('PortInUse', `port ${port} of spec.hosted.exposure is ${by}`, {
    where: String(port),
    hint: `set spec.hosted.exposure.port to another one, or find the program with: ss -ltnp 'sport = :${port}'`,
  });
}
