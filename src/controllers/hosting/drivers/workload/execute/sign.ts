/** Signs the authorities that agents follow, and records what was signed before anything of it is published. */
import type { SignedAuthorities } from '../../../../../api/authorities/document.ts';
import { parsePair } from '../../../../../local/pki/inspect.ts';
import type { KeptAuthorities } from '../../authorities/keys.ts';
import type { RotationState } from '../../authorities/record.ts';
import {
  isObservedPhase,
  type SigningSubject,
  signingSubject,
  signSubject,
} from '../../authorities/signed.ts';
import type { PlaneOwner } from '../../driver.ts';
import type { KnownOrders } from '../../rotation.ts';
import { type FoundPlane, readHubPlane, requireOwnNamespace } from '../hub.ts';
import { KEY_FILES, type KeyFiles } from '../pki/keys.ts';
import { keptAuthorities } from '../pki/rotation.ts';
import type { WorkloadRecord } from '../record.ts';
import type { WorkloadParts } from './members.ts';
import { changeRecord } from './record.ts';

/** Signs the document of the phase that was observed, or returns the last one. Undefined: nothing was ever rotated. */
export async function signWorkload(
  plane: PlaneOwner,
  known: KnownOrders,
  { client, clock }: Pick<WorkloadParts, 'client' | 'clock'>,
): Promise<SignedAuthorities | undefined> {
  const found = await readHubPlane(client, plane);
  requireOwnNamespace(found);
  if (!found.record) return undefined;
  const now = clock.now();
  const { signed } = await changeRecord(client, plane, (current) =>
    withSigned(current, found, { known, now }),
  );
  return signed;
}

function withSigned(
  record: WorkloadRecord,
  found: FoundPlane,
  { known, now }: { readonly known: KnownOrders; readonly now: Date },
): WorkloadRecord {
  const { rotation, signed: last, uid: cluster } = record;
  const subject = signingSubject(rotation, last);
  if (!subject || !isObservedPhase(rotation, known.observed)) return record;
  const authorities = authoritiesOf(found.keys, subject, rotation);
  const { where } = found;
  const signed = signSubject(subject, { cluster, authorities, where, last, known, now });
  return signed === last ? record : { ...record, signed };
}

function authoritiesOf(
  keys: KeyFiles,
  { isOver }: SigningSubject,
  rotation: RotationState | undefined,
): KeptAuthorities {
  if (!isOver && rotation?.keys) return keptAuthorities(keys, 'ca', rotation.keys);
  const only = parsePair(keys[KEY_FILES.ca]);
  return { old: only, new: only };
}
