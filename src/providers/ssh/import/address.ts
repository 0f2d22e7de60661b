/** Reads from a Machine how its host is reached, and which keys it must show. Pure. */
import type { HostKey, MachineImport } from '../../../api/generated/types.ts';
import type { SshHost } from '../channel/connect.ts';
import { parsePrivateKey } from '../channel/credentials.ts';
import { SshError } from '../errors.ts';
import type { HostKeyPolicy } from '../host-keys.ts';
import { addressReason, formatTarget, type SshTarget, userReason } from '../target.ts';
import type { ImportTarget } from './contract.ts';

/** The fields of spec.import.via. */
interface JumpAddress extends SshTarget {
  readonly hostKeys: readonly HostKey[];
}

/** Throws an SshError InvalidTarget or InvalidKey before any connection. */
export function hostFor({ spec, secret, knownHostKey }: ImportTarget): SshHost {
  const { via, credentialsRef, hostKeyPolicy, hostKeys = [] }: MachineImport & { via?: JumpAddress } = spec;
  const privateKey = parsePrivateKey(
    secret.privateKey,
    secret.passphrase,
    `key ${credentialsRef.key} of Secret ${credentialsRef.name}`,
  );
  return {
    target: checked(spec),
    credentials: { privateKey },
    hostKeys: policyOf(hostKeyPolicy, hostKeys, knownHostKey),
    ...(via && { via: { target: checked(via), hostKeys: { type: 'Pinned', keys: via.hostKeys } } }),
  };
}

function policyOf(
  policy: MachineImport['hostKeyPolicy'],
  keys: readonly HostKey[],
  known: HostKey | undefined,
): HostKeyPolicy {
  if (policy === 'Pinned' || keys.length > 0) return { type: 'Pinned', keys };
  return { type: 'TrustOnFirstUse', ...(known && { known }) };
}

function checked({ address, port, user }: SshTarget): SshTarget {
  const reason = addressReason(address) ?? userReason(user);
  const target = { address, port, user };
  if (reason === undefined) return target;
  throw new SshError('InvalidTarget', reason, { where: JSON.stringify(formatTarget(target)) });
}
