/** Finds what a rotation of authorities waits for while the control plane itself has nothing to do. Pure. */
import { wholeSeconds } from '../../../../os/dates.ts';
import type { RotationReport } from '../../drivers/rotation.ts';
import type { HostingInput, HostingWait } from '../input.ts';
import { namesOf } from '../names.ts';
import { closedWait } from '../upgrade/closed.ts';
import { wait, withHint } from '../wait.ts';
import { type RotationClients, rotationClients, rotationNodes } from './clients.ts';
import { remedyHint } from './hints.ts';
import { unsupportedClients } from './machines.ts';
import { isAborting, isPhaseReached, rotationInWork } from './state.ts';

/** Returns why the rotation of the spec does not go on. Undefined: nothing is asked for, or it may go on. */
export function rotationHeld(input: HostingInput): HostingWait | undefined {
  const rotation = rotationInWork(input);
  if (rotation) return isAborting(input, rotation) ? returnHeld(input, rotation) : phaseHeld(input, rotation);
  return isRotationAsked(input) ? beginHeld(input) : undefined;
}

function phaseHeld(input: HostingInput, rotation: RotationReport): HostingWait | undefined {
  const { phase } = rotation;
  if (phase === 'TrustBoth') return unsupportedWait(input) ?? nodesBehind(input, rotation);
  if (phase === 'ServeNew') return clientsBehind(input, rotation);
  const isCompleting = phase === 'IssueNew' && input.hosted.pki.caRotation?.target === 'Complete';
  return isCompleting ? completionHeld(input, rotation) : undefined;
}

/** Returns why the new authorities stay trusted while the rotation is taken back: clients may still have what they issued. */
export function returnHeld(input: HostingInput, rotation: RotationReport): HostingWait | undefined {
  const { phase, hasIssued } = rotation;
  if (phase !== 'TrustBoth' || !hasIssued) return undefined;
  return clientsBehind(input, rotation) ?? podTokensWait(input, rotation);
}

/**
 * Tells whether the spec asks for a rotation that was not begun. One that the spec already completes was made by another control plane of that
 * name, whose folder this one does not have: its authorities are new.
 */
export function isRotationAsked({ hosted, plane }: Pick<HostingInput, 'hosted' | 'plane'>): boolean {
  const { caRotation } = hosted.pki;
  return caRotation?.target === 'Prepare' && plane.rotation?.id !== caRotation.id;
}

/** Returns why the rotation is not begun. */
export function beginHeld(input: HostingInput): HostingWait | undefined {
  return unsupportedWait(input) ?? closedWait(input, 'the rotation of the authorities is held');
}

/** Returns why the end of the rotation is not begun. */
export function completionHeld(input: HostingInput, rotation: RotationReport): HostingWait | undefined {
  return (
    clientsBehind(input, rotation) ??
    podTokensWait(input, rotation) ??
    closedWait(input, 'the completion of the rotation of the authorities is held')
  );
}

/** Kubelets renew the tokens of pods before this time is over, which is the lifetime that pods ask for by default. */
const POD_TOKEN_MS = 3_607_000;

/** Pods may have tokens of the key that is about to be refused, and no one can list them. */
function podTokensWait(input: HostingInput, rotation: RotationReport): HostingWait | undefined {
  const { clients, now, cluster } = input;
  const { signedAt } = rotation;
  if (!signedAt || (clients?.nodes.length ?? 0) === 0) return undefined;
  const until = new Date(signedAt.getTime() + POD_TOKEN_MS);
  if (now >= until) return undefined;
  const key = isAborting(input, rotation) ? 'new' : 'former';
  const message = `pods may have tokens that the ${key} key signed, until ${wholeSeconds(until)}`;
  return wait('PodTokens', message, ['Cluster', cluster.metadata.name]);
}

/** Returns why the authorities that a phase replaces stay trusted. */
export function clientsBehind(input: HostingInput, rotation: RotationReport): HostingWait | undefined {
  const issuer = isAborting(input, rotation) ? 'former' : 'new';
  return behindWait(input, rotation, {
    clients: rotationClients(input),
    what: `have what the ${issuer} authorities issue`,
  });
}

/** Returns why the new authorities issue nothing yet: a client that does not trust them would lose its access. */
function nodesBehind(input: HostingInput, rotation: RotationReport): HostingWait | undefined {
  return behindWait(input, rotation, {
    clients: rotationNodes(input),
    what: 'trust both the former and the new authorities',
  });
}

interface CountedClients {
  readonly clients: RotationClients | undefined;
  readonly what: string;
}

function behindWait(
  input: HostingInput,
  rotation: RotationReport,
  { clients, what }: CountedClients,
): HostingWait | undefined {
  if (!clients) return unknownClients(input);
  if (!isPhaseReached(input, rotation)) return undefined;
  const { moved, total, behind } = clients;
  if (behind.length === 0) return undefined;
  const names = namesOf(behind.map(({ name, because }) => (because ? `${name} (${because})` : name)));
  const message = `${moved} of ${total} clients ${what}; not yet: ${names}`;
  return wait('ClientsBehind', withHint(message, remedyHint(behind)), about(input));
}

/** Machines and Nodes that can never follow would lose their access, so that the rotation does not begin. */
function unsupportedWait(input: HostingInput): HostingWait | undefined {
  if (!input.inside || !input.clients) return unknownClients(input);
  const found = unsupportedClients(input);
  if (found.length === 0) return undefined;
  const names = namesOf(found.map(({ name, behind }) => `${name} (${behind.because})`));
  const message = `${found.length} agents or kubelets cannot follow the authorities, and would lose their access: ${names}`;
  const hint = 'change or remove them, or remove spec.hosted.pki.caRotation';
  return wait('RotationNotSupported', withHint(message, hint), about(input), 'stalled');
}

function unknownClients(input: HostingInput): HostingWait {
  const message =
    'the clients of the cluster could not be read, so that the rotation of the authorities waits';
  return wait('ClientsUnknown', message, about(input));
}

function about({ cluster }: HostingInput): readonly [string, string] {
  return ['Cluster', cluster.metadata.name];
}
