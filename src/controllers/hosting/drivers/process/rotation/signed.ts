/** The document of the authorities that agents follow, as it was signed last, in the folder of a control plane. */
import type { SignedAuthorities } from '../../../../../api/authorities/document.ts';
import { parsePair } from '../../../../../local/pki/inspect.ts';
import type { Clock } from '../../../../../os/clock.ts';
import { PRIVATE_MODE, readFileIfExists, writeFileAtomic } from '../../../../../os/files.ts';
import type { KeptAuthorities } from '../../authorities/keys.ts';
import {
  isObservedPhase,
  type SignedRecord,
  type SigningSubject,
  signedRecord,
  signingSubject,
  signSubject,
} from '../../authorities/signed.ts';
import type { PlaneOwner } from '../../driver.ts';
import type { KnownOrders } from '../../rotation.ts';
import { readPlane, requireOwn } from '../folder.ts';
import { keyFiles } from '../preparation/keys.ts';
import { corruptRecord } from '../records.ts';
import { readBoth } from './authorities.ts';
import { type RotationRecord, readRotation } from './record.ts';

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

/** Signs the document of the phase that was observed, or returns the last one. Undefined: nothing was ever rotated. */
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
  if (!subject || !isObservedPhase(rotation, known.observed)) return last;
  const authorities = await readAuthorities(keyFiles(layout, record)('ca'), subject, rotation);
  const parts = { cluster: plane.uid, authorities, where: layout.root, last, known, now: clock.now() };
  const signed = signSubject(subject, parts);
  if (signed === last) return last;
  await writeFileAtomic(`${layout.root}/${SIGNED_FILE}`, `${JSON.stringify(signed)}\n`, PRIVATE_MODE);
  return signed;
}

async function readAuthorities(
  path: string,
  { isOver }: SigningSubject,
  rotation: RotationRecord | undefined,
): Promise<KeptAuthorities> {
  if (!isOver && rotation?.keys) return await readBoth('ca', path, rotation.keys);
  const only = parsePair(await readFileIfExists(path));
  return { old: only, new: only };
}
