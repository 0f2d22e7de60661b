/**
 * The authorities and the signing key of a control plane while others take over. Each has a file for the former and one for the new key, which
 * are made once. The files that members read are derived from them by the phase, so that an interrupted change is simply repeated.
 */
import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { RotatingAuthorities } from '../../../../../local/pki/access.ts';
import { AUTHORITY_DAYS, concatPem, writeIfChanged } from '../../../../../local/pki/authority.ts';
import {
  type CertificatePair,
  createAuthority,
  createServiceAccountKey,
} from '../../../../../local/pki/certificate.ts';
import { parsePair } from '../../../../../local/pki/inspect.ts';
import { type AuthorityName, FORMER_AUTHORITY } from '../../../../../local/pki/leaves.ts';
import { keyDigest } from '../../../../../local/pki/report.ts';
import { PRIVATE_MODE, readFileIfExists } from '../../../../../os/files.ts';
import { type KeyName, PLANE_KEYS } from '../../keys.ts';
import { type AuthorityAge, PHASE_AUTHORITIES } from '../../rotation.ts';
import type { RotationRecord } from './record.ts';

/** The file of each key that members read. */
export type KeyPath = (name: KeyName) => string;

/** Returns the file that keeps the former or the new key until the rotation is over: `ca.new.pem` for `ca.pem`. */
export function keptFile(path: string, age: AuthorityAge): string {
  return join(dirname(path), basename(path).replace(/\.(pem|key)$/, `.${age}.$1`));
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

function newKey(
  name: KeyName,
  current: string,
  { id, now }: { readonly id: string; readonly now: Date },
): string {
  if (name === 'service-accounts') return createServiceAccountKey();
  // The name tells people apart which authority signed. It has at most 64 characters, and the ID may have as many.
  const suffix = createHash('sha256').update(`${id} ${current}`).digest('hex').slice(0, 8);
  return concatPem(createAuthority(`kubenode ${name} ${suffix}`, now, AUTHORITY_DAYS));
}

export async function keptDigests(
  files: KeyPath,
  age: AuthorityAge,
): Promise<NonNullable<RotationRecord['keys']>['old']> {
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

type MadeRotation = Pick<RotationRecord, 'phase'> & { readonly keys: NonNullable<RotationRecord['keys']> };

/** Writes the key that issues, and returns the other one that is trusted, or an empty text. */
async function deriveKey(name: KeyName, path: string, { phase, keys }: MadeRotation): Promise<string> {
  const { issues, trusts } = PHASE_AUTHORITIES[phase];
  const other = trusts.find((age) => age !== issues);
  const issuing = await readKept(path, keys[issues][name], issues);
  const trusted = other && (await readKept(path, keys[other][name], other));
  if (issuing === undefined) return '';
  // The API server accepts the tokens of every key in its file, and signs with the first.
  const content = name === 'service-accounts' ? issuing + (trusted ?? '') : issuing;
  await writeIfChanged(path, content, PRIVATE_MODE);
  return trusted ?? '';
}

/** Returns the authority of the certificate that the API server serves: the former one is kept in a file of its own. */
export function serverAuthority({ phase, keys }: Pick<RotationRecord, 'phase' | 'keys'>): AuthorityName {
  const { issues, serves } = PHASE_AUTHORITIES[phase];
  return keys && issues !== serves ? FORMER_AUTHORITY : 'ca';
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

export async function removeKept(files: KeyPath): Promise<void> {
  for (const name of PLANE_KEYS) {
    for (const age of ['old', 'new'] as const) await rm(keptFile(files(name), age), { force: true });
  }
}
