/**
 * The authorities and the signing key of a control plane while others take over. Each has a file for the former and one for the new key, which
 * are made once. The files that members read are derived from them by the phase, so that an interrupted change is simply repeated.
 */
import { rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { RotatingAuthorities } from '../../../../../local/pki/access.ts';
import { writeIfChanged } from '../../../../../local/pki/authority.ts';
import { parsePair } from '../../../../../local/pki/inspect.ts';
import { keyDigest } from '../../../../../local/pki/report.ts';
import { PRIVATE_MODE, readFileIfExists } from '../../../../../os/files.ts';
import {
  findKey,
  type KeptAuthorities,
  keptName,
  keyContent,
  newKey,
  phaseKeys,
  serverAuthority,
} from '../../authorities/keys.ts';
import type { KeyDigests } from '../../authorities/record.ts';
import { type KeyName, PLANE_KEYS } from '../../keys.ts';
import type { AuthorityAge } from '../../rotation.ts';
import type { RotationRecord } from './record.ts';

/** The file of each key that members read. */
export type KeyPath = (name: KeyName) => string;

/** Returns the file that keeps the former or the new key until the rotation is over: `ca.new.pem` for `ca.pem`. */
export function keptFile(path: string, age: AuthorityAge): string {
  return join(dirname(path), keptName(basename(path), age));
}

/** Keeps the keys that are in use, and makes those that take over. A key of an attempt that was not recorded was never used. */
export async function makeKeys(files: KeyPath, { id }: RotationRecord, now: Date): Promise<void> {
  for (const name of PLANE_KEYS) {
    const path = files(name);
    const current = (await readFileIfExists(path)) ?? '';
    await writeIfChanged(keptFile(path, 'old'), current, PRIVATE_MODE);
    await writeIfChanged(keptFile(path, 'new'), newKey(name, current, { id, now }), PRIVATE_MODE);
  }
}

export async function keptDigests(files: KeyPath, age: AuthorityAge): Promise<KeyDigests['old']> {
  const digests = await Promise.all(
    PLANE_KEYS.map(async (name) => [name, await keyDigest(keptFile(files(name), age))] as const),
  );
  return Object.fromEntries(
    digests.flatMap(([name, digest]) => (digest === undefined ? [] : [[name, digest]])),
  );
}

/** Writes the keys that issue, and returns what is trusted beside them. */
export async function deriveKeys(files: KeyPath, record: RotationRecord): Promise<RotatingAuthorities> {
  const { keys } = record;
  if (!keys) return {};
  const beside = new Map<KeyName, string>();
  for (const name of PLANE_KEYS) beside.set(name, await deriveKey(name, files(name), { ...record, keys }));
  const certificate = (name: KeyName): string => parsePair(beside.get(name))?.certPem ?? '';
  const cluster = { ca: certificate('ca'), 'front-proxy-ca': certificate('front-proxy-ca') };
  return { etcd: certificate('etcd-ca'), cluster, server: serverAuthority(record) };
}

type MadeRotation = Pick<RotationRecord, 'phase' | 'isEnding'> & { readonly keys: KeyDigests };

/** Writes the key that issues, and returns the other one that is trusted, or an empty text. */
async function deriveKey(
  name: KeyName,
  path: string,
  { phase, keys, isEnding }: MadeRotation,
): Promise<string> {
  const { issuing: issues, beside } = phaseKeys(phase);
  const found = await readKept(name, path, keys);
  if (isEnding !== true) await restoreKept(path, found);
  const issuing = found[issues];
  const trusted = beside && found[beside];
  if (issuing === undefined) return '';
  await writeIfChanged(path, keyContent(name, issuing, trusted), PRIVATE_MODE);
  return trusted ?? '';
}

type FoundKeys = Readonly<Record<AuthorityAge, string | undefined>>;

/** Writes the recorded keys where a kept file was removed, damaged or replaced. */
async function restoreKept(path: string, found: FoundKeys): Promise<void> {
  for (const age of ['old', 'new'] as const) {
    const text = found[age];
    if (text !== undefined) await writeIfChanged(keptFile(path, age), text, PRIVATE_MODE);
  }
}

/** Returns the recorded keys. After the kept files were removed at the end of a rotation, the file that members read has the key that stays. */
export async function readKept(name: KeyName, path: string, keys: KeyDigests): Promise<FoundKeys> {
  const current = await readFileIfExists(path);
  const read = async (age: AuthorityAge): Promise<string | undefined> =>
    findKey(name, [await readFileIfExists(keptFile(path, age)), current], keys[age][name]);
  return { old: await read('old'), new: await read('new') };
}

/** Returns the former and the new authority as they are recorded, with their keys. */
export async function readBoth(name: KeyName, path: string, keys: KeyDigests): Promise<KeptAuthorities> {
  const found = await readKept(name, path, keys);
  return { old: parsePair(found.old), new: parsePair(found.new) };
}

/** A kept file may be the only one that still has the key that stays. */
export async function removeKept(files: KeyPath, ending: RotationRecord): Promise<void> {
  await deriveKeys(files, ending);
  for (const name of PLANE_KEYS) {
    for (const age of ['old', 'new'] as const) await rm(keptFile(files(name), age), { force: true });
  }
}
