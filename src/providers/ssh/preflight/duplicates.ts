/** Finds hosts that are the same one under two names, among the hosts of one call and the Machines of a cluster. Pure. */
import type { HostKey } from '../../../api/generated/types.ts';
import { isSameKey } from '../host-keys.ts';
import { fail, type Verdict, warn } from './check.ts';

/** Holds the properties that distinguish hosts. */
export interface HostIdentity {
  /** How people call it: `host 10.0.0.1`, `Machine n1`. */
  readonly label: string;
  readonly address?: string;
  readonly port?: number;
  readonly hostName?: string;
  readonly machineId?: string;
  readonly systemUuid?: string;
  readonly hostKeys: readonly HostKey[];
}

export interface DuplicateReport {
  readonly duplicate?: Verdict;
  readonly nameTakenReason?: string;
}

const HINT =
  'import it once. If it is a copy of the other host, recreate its identity on its console: rm /etc/machine-id /etc/ssh/ssh_host_*; systemd-machine-id-setup; ssh-keygen -A; reboot';

/** Compares one host with all others. */
export function findDuplicate(host: HostIdentity, others: readonly HostIdentity[]): DuplicateReport {
  const duplicate = sameHost(host, others);
  const name = host.hostName;
  const namesake = name === undefined ? undefined : others.find(({ hostName }) => hostName === name);
  return {
    ...(duplicate && { duplicate }),
    ...(namesake && { nameTakenReason: `it is the name of ${namesake.label} too` }),
  };
}

function sameHost(host: HostIdentity, others: readonly HostIdentity[]): Verdict | undefined {
  for (const other of others) {
    const same = sameReason(host, other);
    if (same !== undefined) return fail(`${other.label} is the same host: ${same}`, HINT);
  }
  const twin = others.find(({ systemUuid }) => isUuid(systemUuid) && systemUuid === host.systemUuid);
  if (twin === undefined) return undefined;
  return warn(
    `${twin.label} has the same system UUID`,
    'make sure that they are two hosts: containers of one machine share it',
  );
}

function sameReason(host: HostIdentity, other: HostIdentity): string | undefined {
  if (host.address !== undefined && host.address === other.address && host.port === other.port) {
    return 'it has this address';
  }
  if (host.machineId !== undefined && host.machineId === other.machineId) {
    return `both have the machine id ${host.machineId}`;
  }
  const key = host.hostKeys.find((each) => other.hostKeys.some((theirs) => isSameKey(each, theirs)));
  return key && `both have the host key ${key.fingerprint}`;
}

/** Some vendors ship every board with the same one: all digits equal, or counting up. */
function isUuid(uuid: string | undefined): boolean {
  return uuid !== undefined && !/^([0-9a-f])(\1|-)*$/.test(uuid) && !uuid.startsWith('03000200-0400-0500');
}
