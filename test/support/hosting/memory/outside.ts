/** Where other machines reach a control plane in memory. */
import { isDeepStrictEqual } from 'node:util';
import {
  GATEWAYS,
  isGateway,
  type OutsideAddress,
  OWN_CONTROLLERS,
  type PlaneDriver,
  type PlaneMember,
  type PlaneOwner,
} from '../../../../src/controllers/hosting/drivers/driver.ts';
import { HostingError } from '../../../../src/controllers/hosting/errors.ts';
import type { MemoryPlane } from './plane.ts';

/** The ports of this machine that another program has. */
export const TAKEN_PORTS: ReadonlySet<number> = new Set([1234]);

export function gatewaysOf({ outside }: Pick<MemoryPlane, 'outside'>): readonly PlaneMember[] {
  return outside ? GATEWAYS : [];
}

export function requireAllowed(outside: OutsideAddress | undefined): void {
  if (!outside || !TAKEN_PORTS.has(outside.port)) return;
  const hint = 'set spec.hosted.exposure.port to another one';
  throw new HostingError('PortInUse', `port ${outside.port} is in use`, {
    where: String(outside.port),
    hint,
  });
}

/** Returns the kubeconfig of sync, which names the address for other machines where there is one. */
export function syncServer({ outside }: MemoryPlane): string {
  return outside ? ` at ${outside.host}:${outside.port}` : '';
}

export function memoryOutsideActs(
  own: (owner: PlaneOwner) => MemoryPlane | undefined,
  log: string[],
): Required<Pick<PlaneDriver, 'setOutside'>> {
  return {
    setOutside: async (owner, outside) => {
      const plane = own(owner);
      if (!plane || plane.isDestroying || isDeepStrictEqual(plane.outside, outside)) return;
      if (plane.outside?.port !== outside?.port) {
        requireEnded(plane);
        requireAllowed(outside);
      }
      plane.running.delete(OWN_CONTROLLERS);
      plane.starts.delete(OWN_CONTROLLERS);
      plane.outside = outside;
      log.push(`outside ${owner.name}${syncServer(plane) || ' nowhere'}`);
    },
  };
}

function requireEnded({ running, spec }: MemoryPlane): void {
  const left = [...running.keys()].find(isGateway);
  if (left) throw new HostingError('NotStopped', `${left} runs`, { where: spec.name });
}
