/** Where other machines reach a control plane in memory. */
import { isDeepStrictEqual } from 'node:util';
import {
  GATEWAYS,
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
      moveOutside(plane, outside);
      log.push(`outside ${owner.name}${syncServer(plane) || ' nowhere'}`);
    },
  };
}

function moveOutside(plane: MemoryPlane, outside: OutsideAddress | undefined): void {
  if (plane.outside?.port !== outside?.port) {
    requireAllowed(outside);
    for (const member of GATEWAYS) endMemory(plane, member);
  }
  endMemory(plane, OWN_CONTROLLERS);
  plane.outside = outside;
}

/** That they end is not a crash. */
function endMemory({ running, starts }: MemoryPlane, member: PlaneMember): void {
  running.delete(member);
  starts.delete(member);
}
