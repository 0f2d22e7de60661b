/**
 * Guards the keys that are made only once. The digest of each is in the record of the control plane, so that a key that is missing, damaged or
 * another one is found, and never replaced: every client, node and token of the cluster trusts it.
 */
import { join, relative } from 'node:path';
import { authorityFile, SERVICE_ACCOUNT_KEY } from '../../../../../local/pki/authority.ts';
import { keyDigest } from '../../../../../local/pki/report.ts';
import { fileExists } from '../../../../../os/files.ts';
import { HostingError } from '../../../errors.ts';
import { neededAges, unusedIn } from '../../authorities/keys.ts';
import type { PlaneReport } from '../../driver.ts';
import { type KeyName, PLANE_KEYS } from '../../keys.ts';
import { type AuthorityAge, PHASE_AUTHORITIES } from '../../rotation.ts';
import type { PlaneFolder } from '../folder.ts';
import type { PlaneRecord } from '../records.ts';
import { type KeyPath, keptFile, readKept } from '../rotation/authorities.ts';
import { type RotationRecord, readRotationInWork } from '../rotation/record.ts';

type Found = Pick<PlaneFolder, 'layout' | 'record'>;

/** Reports the problems of the keys that were made. A key that was never made has none. */
export async function reportLostKeys(found: Found): Promise<Pick<PlaneReport, 'lostKeys' | 'lostUnused'>> {
  const rotation = await readRotationInWork(found.layout.root);
  const lost = await lostKeysIn(found, { rotation, agesOf: ({ phase }) => PHASE_AUTHORITIES[phase].trusts });
  const needed = await lostKeysIn(found, { rotation, agesOf: neededAges });
  return { lostKeys: lost, ...unusedIn(lost, needed) };
}

interface CheckedKeys {
  readonly rotation: RotationRecord | undefined;
  /** Which of both keys have to be there. */
  readonly agesOf: (rotation: RotationRecord) => readonly AuthorityAge[];
}

async function lostKeysIn(
  { layout, record }: Found,
  { rotation, agesOf }: CheckedKeys,
): Promise<readonly string[]> {
  if (!record) return [];
  const keptKeys = rotation?.keys;
  const problems = await Promise.all(
    PLANE_KEYS.map((name) =>
      keptKeys
        ? keptProblems(name, { layout, record }, { keys: keptKeys, ages: agesOf(rotation) })
        : keyProblem(name, { layout, record }),
    ),
  );
  return problems.flat();
}

interface KeptKeys {
  readonly keys: NonNullable<RotationRecord['keys']>;
  readonly ages: readonly AuthorityAge[];
}

/** While other keys take over, the files that members read are derived from the kept ones. */
async function keptProblems(
  name: KeyName,
  { layout, record }: { readonly layout: PlaneFolder['layout']; readonly record: PlaneRecord },
  { keys, ages }: KeptKeys,
): Promise<readonly string[]> {
  const path = keyFile(name, { layout, record });
  const found = await readKept(name, path, keys);
  return ages.flatMap((age) =>
    keys[age][name] === undefined || found[age] !== undefined
      ? []
      : [`${relative(layout.root, keptFile(path, age))} is missing, damaged or another one`],
  );
}

async function keyProblem(
  name: KeyName,
  { layout, record }: { readonly layout: PlaneFolder['layout']; readonly record: PlaneRecord },
): Promise<readonly string[]> {
  const path = keyFile(name, { layout, record });
  const [digest, recorded] = [await keyDigest(path), record.keys?.[name]];
  if (digest !== undefined && digest === (recorded ?? digest)) return [];
  const file = relative(layout.root, path);
  if (digest !== undefined) return [`${file} is not the key that it was made with`];
  // The copy of the certificate is written after the key.
  const wasMade = recorded !== undefined || (await fileExists(path.replace(/\.pem$/, '.crt')));
  return wasMade ? [`${file} is missing or damaged`] : [];
}

function keyFile(name: KeyName, { layout, record: { cluster } }: Required<Found> & { record: PlaneRecord }) {
  const { pkiFolder } = layout.cluster(cluster);
  if (name === 'etcd-ca') return authorityFile(layout.etcd.pkiFolder, 'ca');
  return name === 'service-accounts' ? join(pkiFolder, SERVICE_ACCOUNT_KEY) : authorityFile(pkiFolder, name);
}

/** Returns the file of each key that members read. */
export function keyFiles(layout: PlaneFolder['layout'], record: PlaneRecord): KeyPath {
  return (name) => keyFile(name, { layout, record });
}

/** Throws where keys are lost without which nothing can be done, in the phase that is recorded or in the next one. */
export async function requireKeys(found: Found, next?: RotationRecord): Promise<void> {
  const recorded = await readRotationInWork(found.layout.root);
  const rotation = next && next.phase !== 'Completed' ? next : recorded;
  const lost = await lostKeysIn(found, { rotation, agesOf: neededAges });
  if (lost.length === 0) return;
  throw new HostingError('KeysLost', `keys of the control plane are lost: ${lost.join('; ')}`, {
    where: found.layout.root,
    hint: 'restore these files from a backup, or delete the Cluster and create it again',
  });
}

/** Returns the digests of all keys. A key that cannot be read has none. */
export async function keyDigests(
  layout: PlaneFolder['layout'],
  record: PlaneRecord,
): Promise<PlaneRecord['keys']> {
  const digests = await Promise.all(
    PLANE_KEYS.map(async (name) => [name, await keyDigest(keyFile(name, { layout, record }))] as const),
  );
  return Object.fromEntries(
    digests.flatMap(([name, digest]) => (digest === undefined ? [] : [[name, digest]])),
  );
}

/** Whether every key is in the record. */
export function areKeysRecorded({ keys = {} }: PlaneRecord): boolean {
  return PLANE_KEYS.every((name) => keys[name] !== undefined);
}
