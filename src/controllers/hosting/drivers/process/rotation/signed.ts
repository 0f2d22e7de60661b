/** The document of the authorities that agents follow, as it was signed last, in the folder of a control plane. */
import type { SignedAuthorities } from '../../../../../api/authorities/document.ts';
import type { CertificatePair } from '../../../../../local/pki/certificate.ts';
import { parsePair } from '../../../../../local/pki/inspect.ts';
import type { Clock } from '../../../../../os/clock.ts';
import { PRIVATE_MODE, readFileIfExists, writeFileAtomic } from '../../../../../os/files.ts';
import {
  missingAuthority,
  type SignedRecord,
  type SigningAuthorities,
  type SigningSubject,
  signedRecord,
  signingSubject,
  signSubject,
} from '../../authorities/signed.ts';
import type { PlaneOwner } from '../../driver.ts';
import type { AuthorityAge, KnownOrders } from '../../rotation.ts';
import { readPlane, requireOwn } from '../folder.ts';
import { keyFiles } from '../preparation/keys.ts';
import { corruptRecord } from '../records.ts';
import { readKeptAuthority } from './authorities.ts';
import { readRotation } from './record.ts';

const SIGNED_FILE = 'authorities.json';

export async function readSigned(root: string): Promise<SignedRecord | undefined> {
  const path = `${root}/${SIGNED_FILE}`;
  const text = await readFileIfExists(path);
  if (text === undefined) return undefined;
  try {
    return signedRecord.parse(JSON.parse(text));
  } catch (error) {
    throw corruptRecord(path, error);
  }
}

/** Signs the document of the phase, or returns the last one. Undefined: nothing was ever rotated. */
export async function signAuthorities(
  plane: PlaneOwner,
  known: KnownOrders,
  { dir, clock }: { readonly dir: string; readonly clock: Clock },
): Promise<SignedAuthorities | undefined> {
  const found = await readPlane(dir, plane);
  requireOwn(found);
  const { layout, record } = found;
  const [rotation, last] = [await readRotation(layout.root), await readSigned(layout.root)];
  const subject = record && signingSubject(rotation, last);
  if (!subject) return last;
  const authorities = await readAuthorities(keyFiles(layout, record)('ca'), subject);
  const signed = signSubject(subject, { cluster: plane.uid, authorities, last, known, now: clock.now() });
  if (signed === last) return last;
  await writeFileAtomic(`${layout.root}/${SIGNED_FILE}`, `${JSON.stringify(signed)}\n`, PRIVATE_MODE);
  return signed;
}

async function readAuthorities(path: string, { isOver }: SigningSubject): Promise<SigningAuthorities> {
  if (!isOver) return { old: await requireAuthority(path, 'old'), new: await requireAuthority(path, 'new') };
  const only = parsePair(await readFileIfExists(path));
  if (!only) throw missingAuthority(path);
  return { old: only, new: only };
}

async function requireAuthority(path: string, age: AuthorityAge): Promise<CertificatePair> {
  const found = await readKeptAuthority(path, age);
  if (!found) throw missingAuthority(path);
  return found;
}
