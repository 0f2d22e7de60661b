/**
 * The authorities and the signing key of a control plane while others take over. Each has a file for the former and one for the new key, which
 * are made once. The files that members read are derived from them by the phase, so that an interrupted change is simply repeated.
 */
import { rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { RotatingAuthorities } from '../../../../../local/pki/access.ts';
import { writeIfChanged } from '../../../../../local/pki/authority.ts';
import type { CertificatePair } from '../../../../../local/pki/certificate.ts';
import { parsePair } from '../../../../../local/pki/inspect.ts';
import { keyDigest } from '../../../../../local/pki/report.ts';
import { PRIVATE_MODE, readFileIfExists } from '../../../../../os/files.ts';
import {
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
  const { keys, phase } = record;
  if (!keys) return {};
  const beside = new Map<KeyName, string>();
  for (const name of PLANE_KEYS) beside.set(name, await deriveKey(name, files(name), { phase, keys }));
  const certificate = (name: KeyName): string => parsePair(beside.get(name))?.certPem ?? '';
  const cluster = { ca: certificate('ca'), 'front-proxy-ca': certificate('front-proxy-ca') };
  return { etcd: certificate('etcd-ca'), cluster, server: serverAuthority(record) };
}

type MadeRotation = Pick<RotationRecord, 'phase'> & { readonly keys: KeyDigests };

/** Writes the key that issues, and returns the other one that is trusted, or an empty text. */
async function deriveKey(name: KeyName, path: string, { phase, keys }: MadeRotation): Promise<string> {
  const { issuing: issues, beside } = phaseKeys(phase);
  const issuing = await readKept(path, keys[issues][name], issues);
  const trusted = beside && (await readKept(path, keys[beside][name], beside));
  if (issuing === undefined) return '';
  await writeIfChanged(path, keyContent(name, issuing, trusted), PRIVATE_MODE);
  return trusted ?? '';
}

/** Returns the kept key. After the files were removed at the end of a rotation, the file that members read has it. */
async function readKept(
  path: string,
  digest: string | undefined,
  age: AuthorityAge,
): Promise<string | undefined> {
  const kept = await readFileIfExists(keptFile(path, age));
  if (kept !== undefined || digest === undefined) return kept;
  return (await keyDigest(path)) === digest ? await readFileIfExists(path) : undefined;
}

/** Tells whether the key is there that was recorded. */
export async function isKeyKept(path: string, digest: string, age: AuthorityAge): Promise<boolean> {
  return (await keyDigest(keptFile(path, age))) === digest || (await keyDigest(path)) === digest;
}

/** Returns the former or the new authority, with its key. */
export async function readKeptAuthority(
  path: string,
  age: AuthorityAge,
): Promise<CertificatePair | undefined> {
  return parsePair(await readFileIfExists(keptFile(path, age)));
}

export async function readBoth(path: string): Promise<KeptAuthorities> {
  return { old: await readKeptAuthority(path, 'old'), new: await readKeptAuthority(path, 'new') };
}

export async function removeKept(files: KeyPath): Promise<void> {
  for (const name of PLANE_KEYS) {
    for (const age of ['old', 'new'] as const) await rm(keptFile(files(name), age), { force: true });
  }
}
