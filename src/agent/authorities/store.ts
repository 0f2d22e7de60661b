/**
 * Keeps what the agent has followed of its authorities, and the file of the CA that its client and its kubelet read. The record is written before
 * the file, so that an agent that ends in between finishes it.
 */
import { type AuthoritiesDocument, certificatesIn } from '../../api/authorities/document.ts';
import type { Clock } from '../../os/clock.ts';
import type { HostFiles } from '../host/port.ts';
import { digestOfCa, knownCluster } from '../identity/known-cluster.ts';
import { AUTHORITIES_FILE, CLUSTER_CA_FILE } from '../layout.ts';
import { type FollowedRecord, formatRecord, parseFollowed } from './record.ts';
import type { FollowedAuthorities } from './verify.ts';

type Files = Pick<HostFiles, 'read' | 'write' | 'stat'>;

/** A host on which authorities are followed. */
export interface FollowingHost {
  readonly files: Files;
  readonly clock: Clock;
  /** Returns the kubelets that run. Undefined: they are not known at the moment. */
  readonly kubelets: () => Promise<readonly string[] | undefined>;
}

const PUBLIC = { mode: '0644', owner: 'root:root' };
const PRIVATE = { mode: '0600', owner: 'root:root' };

/** Undefined: nothing was followed since a person joined the host. */
export async function readFollowedRecord(
  files: Pick<HostFiles, 'read'>,
): Promise<FollowedRecord | undefined> {
  const content = await files.read(AUTHORITIES_FILE);
  if (!content) return undefined;
  const record = parseFollowed(new TextDecoder().decode(content));
  if ('problem' in record) return record;
  // A running agent may write its record again while a person joins the host.
  const joinedWith = (await knownCluster(files))?.caSha256;
  return joinedWith === undefined || joinedWith === record.followed.joinedWith ? record : undefined;
}

export async function readFollowed(files: Pick<HostFiles, 'read'>): Promise<FollowedAuthorities | undefined> {
  const record = await readFollowedRecord(files);
  return record && 'followed' in record ? record.followed : undefined;
}

async function writeRecord(files: Pick<HostFiles, 'write'>, followed: FollowedAuthorities): Promise<void> {
  await files.write(AUTHORITIES_FILE, new TextEncoder().encode(formatRecord(followed)), PRIVATE);
}

/** Returns the file of the CA. Undefined: the host trusts the authorities of its system. */
export async function readTrustedFile(files: Pick<HostFiles, 'read'>): Promise<string | undefined> {
  const content = await files.read(CLUSTER_CA_FILE);
  return content && new TextDecoder().decode(content);
}

export async function writeTrustedFile(files: Pick<HostFiles, 'read' | 'write'>, ca: string): Promise<void> {
  if ((await readTrustedFile(files)) === ca) return;
  await files.write(CLUSTER_CA_FILE, new TextEncoder().encode(ca), PUBLIC);
}

export interface FollowedDocument {
  readonly document: AuthoritiesDocument;
  readonly text: string;
}

/** Records what is followed, and writes the file of the CA. */
export async function follow(host: FollowingHost, { document, text }: FollowedDocument): Promise<void> {
  const { files } = host;
  const before = (await readFollowed(files)) ?? (await firstRecord(host));
  const isApplied = before.isApplied && (await isTrusted(files, document));
  const next: FollowedAuthorities = { ...before, ...document, text, isApplied };
  await writeRecord(files, next);
  if (!isApplied) await apply(host, next);
}

/** Before the first document, the host has what it joined with. */
async function firstRecord({
  files,
  clock,
}: FollowingHost): Promise<Pick<FollowedAuthorities, 'isApplied' | 'changedAt' | 'joinedWith'>> {
  const joinedWith =
    (await knownCluster(files))?.caSha256 ?? digestOfCa((await readTrustedFile(files)) ?? '');
  const changedAt = ((await files.stat(CLUSTER_CA_FILE))?.modifiedAt ?? clock.now()).toISOString();
  return { isApplied: true, changedAt, joinedWith };
}

/**
 * Makes the file of the CA what was followed, after an interruption, or when somebody wrote something else into it. Tells whether it
 * differed.
 */
export async function ensureApplied(host: FollowingHost): Promise<boolean> {
  const { files } = host;
  const followed = await readFollowed(files);
  if (!followed) return false;
  const differs = !(await isTrusted(files, followed));
  if (followed.isApplied && !differs) return false;
  await apply(host, followed);
  return differs;
}

/**
 * The kubelets are listed after the file was written: one that started in between is restarted once more than needed, and never once less.
 * While they are not known, the record remains one that is not applied.
 */
async function apply(host: FollowingHost, followed: FollowedAuthorities): Promise<void> {
  const { files, clock, kubelets } = host;
  await restoreFollowed(files, followed);
  const outdated = await kubelets();
  if (!outdated) return;
  await writeRecord(files, { ...followed, isApplied: true, changedAt: clock.now().toISOString(), outdated });
}

/** Writes the file of the CA when it differs. The kubelets that run meanwhile are listed later. */
export async function restoreFollowed(files: Files, followed: FollowedAuthorities): Promise<void> {
  if (await isTrusted(files, followed)) return;
  await writeRecord(files, { ...followed, isApplied: false });
  await writeTrustedFile(files, followed.authorities.join(''));
}

/** Their order matters to no client, so that the file changes only with its authorities. */
async function isTrusted(
  files: Pick<HostFiles, 'read'>,
  { authorities }: Pick<AuthoritiesDocument, 'authorities'>,
): Promise<boolean> {
  const [found, expected] = [(await readTrustedFile(files)) ?? '', authorities.join('')].map(certificatesIn);
  if (!found || !expected || found.size !== expected.size) return false;
  return [...found.keys()].every((fingerprint) => expected.has(fingerprint));
}

/** Forgets what was followed, because a person or an import brings the CA of a cluster. */
export async function forgetFollowed(files: Pick<HostFiles, 'remove'>): Promise<void> {
  await files.remove(AUTHORITIES_FILE);
}
