/** Finds what a rotation of authorities waits for while the control plane itself has nothing to do. Pure. */
import type { RotationReport } from '../../drivers/rotation.ts';
import type { HostingInput, HostingWait } from '../input.ts';
import { namesOf } from '../names.ts';
import { closedWait } from '../upgrade/closed.ts';
import { wait, withHint } from '../wait.ts';
import { holders, rotationClients } from './clients.ts';
import { isAborting, isPhaseReached, rotationInWork } from './state.ts';

/** Returns why the rotation of the spec does not go on. Undefined: nothing is asked for, or it may go on. */
export function rotationHeld(input: HostingInput): HostingWait | undefined {
  const rotation = rotationInWork(input);
  if (rotation) return isAborting(input, rotation) ? undefined : phaseHeld(input, rotation);
  return isRotationAsked(input) ? beginHeld(input) : undefined;
}

function phaseHeld(input: HostingInput, rotation: RotationReport): HostingWait | undefined {
  const { phase } = rotation;
  if (phase === 'TrustBoth') return holdersWait(input);
  if (phase === 'ServeNew') return clientsBehind(input, rotation);
  const isCompleting = phase === 'IssueNew' && input.hosted.pki.caRotation?.target === 'Complete';
  return isCompleting ? completionHeld(input, rotation) : undefined;
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
  return holdersWait(input) ?? closedWait(input, 'the rotation of the authorities is held');
}

/** Returns why the end of the rotation is not begun. */
export function completionHeld(input: HostingInput, rotation: RotationReport): HostingWait | undefined {
  return (
    clientsBehind(input, rotation) ??
    closedWait(input, 'the completion of the rotation of the authorities is held')
  );
}

/** Returns why the former authorities stay trusted. */
export function clientsBehind(input: HostingInput, rotation: RotationReport): HostingWait | undefined {
  const clients = rotationClients(input);
  if (!clients) return unknownClients(input);
  if (!isPhaseReached(input, rotation)) return undefined;
  const { moved, total, behind } = clients;
  if (behind.length === 0) return undefined;
  const message = `${moved} of ${total} clients have what the new authorities issue; not yet: ${namesOf(behind)}`;
  return wait('ClientsBehind', withHint(message, behindHint(input, behind)), about(input));
}

function behindHint(input: HostingInput, behind: readonly string[]): string {
  const hasTokens = behind.some((name) => name.startsWith('Secret '));
  return holders(input).length > 0 ? REMOVE_HOLDERS : hasTokens ? FILL_TOKENS : WAIT_FOR_SYNC;
}

const REMOVE_HOLDERS = 'remove these machines, or take the rotation back: remove spec.hosted.pki.caRotation';
const FILL_TOKENS = 'delete the key `token` of each Secret: it is filled again';
const WAIT_FOR_SYNC =
  'sync has to reach the cluster with its new kubeconfig, which it reports within five minutes';

/** A cluster with Machines or Nodes keeps its authorities: none of them takes another one yet. */
function holdersWait(input: HostingInput): HostingWait | undefined {
  if (!input.inside || !input.clients) return unknownClients(input);
  const found = holders(input);
  if (found.length === 0) return undefined;
  const message = `agents and kubelets do not take another authority yet, and ${found.length} would lose their access: ${namesOf(found)}`;
  const hint = 'remove spec.hosted.pki.caRotation, or these machines';
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
