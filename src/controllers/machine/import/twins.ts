/** Finds an older Machine that is the same host: a host is imported once. Pure. */
import type { Machine, MachineImportStatus } from '../../../api/generated/types.ts';
import { byCode } from '../../../kube/objects/digest.ts';
import { optional } from '../../../kube/objects/optional.ts';

export interface ImportTwin {
  readonly name: string;
  /** The property that both have. */
  readonly because: string;
}

/** The check of the preflight that can be skipped. */
const CHECK = 'DuplicateHost';

/** Returns the oldest Machine with the same address, machine id or system UUID. Only the younger of two gives way. */
export function findImportTwin(machine: Machine, others: Iterable<Machine>): ImportTwin | undefined {
  if (!machine.spec.import || machine.spec.import.skipChecks.includes(CHECK)) return undefined;
  const found = [...others].flatMap((other) => {
    const because = isOlder(other, machine) ? sameReason(machine, other) : undefined;
    return because === undefined ? [] : [{ other, because }];
  });
  const [first] = found.toSorted((a, b) => byCode(ageOf(a.other), ageOf(b.other)));
  return first && { name: first.other.metadata.name, because: first.because };
}

function isOlder(other: Machine, machine: Machine): boolean {
  return other.metadata.name !== machine.metadata.name && byCode(ageOf(other), ageOf(machine)) < 0;
}

function ageOf({ metadata: { creationTimestamp = '', name } }: Machine): string {
  return `${creationTimestamp} ${name}`;
}

function sameReason(machine: Machine, other: Machine): string | undefined {
  const [mine, theirs] = [machine.spec.import, other.spec.import];
  // An address behind a jump host is that of its network.
  if (mine && theirs && addressOf(mine) === addressOf(theirs)) {
    return `it has the address ${mine.address}, port ${mine.port}`;
  }
  return sameIds(machine, other);
}

function sameIds(machine: Machine, other: Machine): string | undefined {
  const mine = machine.status?.import ?? {};
  const their = idsOf(other);
  if (mine.machineID !== undefined && their.machineID !== undefined) {
    // Containers of one computer share its UUID, and have a machine id each.
    return mine.machineID === their.machineID ? `it has the machine id ${mine.machineID}` : undefined;
  }
  const isSame = mine.systemUUID !== undefined && mine.systemUUID === their.systemUUID;
  return isSame ? `it has the system UUID ${mine.systemUUID}` : undefined;
}

/** The agent of a sandbox reports the id of the computer that it shares with others. */
function idsOf({ spec, status }: Machine): Pick<MachineImportStatus, 'machineID' | 'systemUUID'> {
  if (spec.import) return status?.import ?? {};
  return spec.host.type === 'systemd' ? optional('machineID', status?.system?.machineID) : {};
}

function addressOf({ address, port, via }: NonNullable<Machine['spec']['import']>): string {
  return JSON.stringify([address.toLowerCase(), port, via?.address.toLowerCase(), via?.port]);
}
