/** Reads from the host to which Machine it belongs, and refuses another one. */
import { X509Certificate } from 'node:crypto';
import { agentUser } from '../../api/names.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { AcceptedState } from '../desired/accepted.ts';
import type { HostFiles } from '../host/port.ts';
import { identityFiles } from '../identity/store.ts';
import { AGENT_PKI, DESIRED_FILE } from '../layout.ts';
import { readStateFile } from '../state-file.ts';
import { TakeoverError } from './errors.ts';
import { type ClaimedOwner, foreignOwnerReason, type KnownOwners } from './owner.ts';
import { readImportRecord } from './record.ts';

type OwnerFiles = Pick<HostFiles, 'read' | 'write'>;

export async function requireHostFor(files: OwnerFiles, claimed: ClaimedOwner): Promise<void> {
  const reason = foreignOwnerReason(await readOwners(files), claimed);
  if (reason === undefined) return;
  const hint = 'delete the other Machine first, or release the host: kubenode-agent release';
  throw new TakeoverError('HostInUse', reason, { hint });
}

async function readOwners(files: OwnerFiles): Promise<KnownOwners> {
  const accepted = await readStateFile<AcceptedState>(files, DESIRED_FILE);
  const certificate = await files.read(identityFiles(AGENT_PKI).certificate);
  return {
    ...optional('record', await readImportRecord(files)),
    ...optional('accepted', accepted && { name: accepted.name, uid: accepted.uid }),
    ...optional('certificateMachine', certificate && machineOfCertificate(parseCertificate(certificate))),
  };
}

/** Parses the first certificate. Undefined for content that has none. */
export function parseCertificate(pem: Uint8Array | string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

/** Returns the machine whose agent the certificate is for. */
export function machineOfCertificate(certificate: X509Certificate | undefined): string | undefined {
  const name = subjectPart(certificate, 'CN');
  const prefix = agentUser('');
  return name?.startsWith(prefix) ? name.slice(prefix.length) : undefined;
}

/** Returns a part of the subject. Undefined when it has none, or more than one. */
export function subjectPart(certificate: X509Certificate | undefined, part: 'CN' | 'O'): string | undefined {
  const lines = (certificate?.subject ?? '').split('\n').filter((line) => line.startsWith(`${part}=`));
  return lines.length === 1 ? lines[0]?.slice(part.length + 1) : undefined;
}
