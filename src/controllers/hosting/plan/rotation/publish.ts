/** Plans when the authorities are published for the agents of the cluster. Pure. */
import type { SignedAuthorities } from '../../../../api/authorities/document.ts';
import type { PlaneReport } from '../../drivers/driver.ts';
import type { KnownOrders, RotationReport } from '../../drivers/rotation.ts';
import type { HostingDecision, HostingInput } from '../input.ts';
import { expectedAuthorities } from './expected.ts';
import { isPhaseReached, rotationInWork } from './state.ts';

/**
 * A phase is published when every member is in it: an agent that asked for a certificate before that would get one of the former authority. It
 * disturbs nothing, so that it needs no grant.
 */
export function planPublication(input: HostingInput): HostingDecision | undefined {
  if (!input.inside?.isInstalled) return undefined;
  const rotation = rotationInWork(input);
  if (rotation && !rotation.isSigned) return publishPhase(input, rotation);
  if (!rotation && isEndUnsigned(input.plane)) return publish('agents are to follow the end of the rotation');
  return isMissing(input) ? publish('what agents follow is not what was signed') : undefined;
}

function publishPhase(input: HostingInput, rotation: RotationReport): HostingDecision | undefined {
  if (!isPhaseReached(input, rotation)) return undefined;
  return publish(`agents are to follow the phase ${rotation.phase}`);
}

function isMissing(input: HostingInput): boolean {
  return input.plane.authorities !== undefined && !isPublished(input);
}

/** Tells whether agents find what was signed last. */
export function isPublished({ inside, plane }: Pick<HostingInput, 'inside' | 'plane'>): boolean {
  const [signed, published] = [plane.authorities, inside?.authorities];
  return signed !== undefined && published !== undefined && isSame(signed, published);
}

/**
 * Returns the orders that agents may have followed, also when the record of what was signed is that of a backup, and the phase that was observed: another
 * process may go on before this one signs.
 */
export function knownOrders({
  inside,
  clients,
  plane: { rotation },
}: Pick<HostingInput, 'inside' | 'clients' | 'plane'>): KnownOrders {
  const reported = (clients?.machines ?? []).flatMap(({ agent }) => agent?.authorities?.order ?? []);
  return { published: inside?.authorities, reported, observed: { rotation } };
}

/** A rotation that ended while nothing could be published left agents in a phase before. */
function isEndUnsigned({ rotation, authorities }: PlaneReport): boolean {
  const last = expectedAuthorities(authorities);
  if (!last) return false;
  if (rotation) return last.rotation !== rotation.id || last.phase !== 'TrustNew';
  return last.phase !== 'TrustNew' && last.phase !== 'TrustOld';
}

function publish(because: string): HostingDecision {
  return { act: { type: 'PublishAuthorities', because } };
}

function isSame(signed: SignedAuthorities, published: SignedAuthorities): boolean {
  return published.document === signed.document && published.signatures === signed.signatures;
}
