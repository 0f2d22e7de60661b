/** Decides whether a host belongs to another Machine: it would take the components of the other one for its own. Pure. */
import type { MachineOwner } from './record.ts';

/** Lists what the host knows of its owner: the record of the import, the accepted Machine, and the name in the certificate. */
export interface KnownOwners {
  readonly record?: MachineOwner;
  readonly accepted?: { readonly name: string; readonly uid: string };
  readonly certificateMachine?: string;
}

/** A release names no machine: it knows the UID at most. */
export type ClaimedOwner = Partial<MachineOwner>;

/** Returns why the host is not for this Machine; undefined when it is free, or belongs to it. */
export function foreignOwnerReason(known: KnownOwners, claimed: ClaimedOwner): string | undefined {
  const other = knownOwners(known).find((owner) => isOther(owner, claimed));
  return other && `this host belongs to ${describeOwner(other)}, not to ${describeOwner(claimed)}`;
}

function knownOwners({ record, accepted, certificateMachine }: KnownOwners): readonly MachineOwner[] {
  return [
    ...(record ? [record] : []),
    ...(accepted ? [{ machine: accepted.name, machineUid: accepted.uid }] : []),
    ...(certificateMachine === undefined ? [] : [{ machine: certificateMachine }]),
  ];
}

function isOther(owner: MachineOwner, claimed: ClaimedOwner): boolean {
  return (
    differ(owner.machine, claimed.machine) ||
    differ(owner.machineUid, claimed.machineUid) ||
    differ(owner.clusterUid, claimed.clusterUid)
  );
}

/** Compares two ids. One that is not known differs from none. */
function differ(known: string | undefined, claimed: string | undefined): boolean {
  return known !== undefined && claimed !== undefined && known !== claimed;
}

function describeOwner({ machine, machineUid, clusterUid }: ClaimedOwner): string {
  const name = machine === undefined ? 'a Machine' : `Machine ${machine}`;
  const ids = [
    ...(machineUid === undefined ? [] : [`UID ${machineUid}`]),
    ...(clusterUid === undefined ? [] : [`cluster ${clusterUid}`]),
  ];
  return ids.length === 0 ? name : `${name} (${ids.join(', ')})`;
}
