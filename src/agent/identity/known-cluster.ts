/** The cluster that the host has joined, as it is kept on the disk. */
import { createHash } from 'node:crypto';
import type { HostFiles } from '../host/port.ts';
import { CLUSTER_FILE } from '../layout.ts';
import { readStateFile } from '../state-file.ts';

export interface JoinedCluster {
  readonly server: string;
  readonly hasCa: boolean;
  /** The SHA-256 of the CA that a person brought last. The file of the CA differs from it after a rotation. Undefined: an earlier agent wrote this. */
  readonly caSha256?: string;
}

/** Undefined: the host has not joined, or the file is missing. */
export async function knownCluster(files: Pick<HostFiles, 'read'>): Promise<JoinedCluster | undefined> {
  return await readStateFile<JoinedCluster>(files, CLUSTER_FILE);
}

export function digestOfCa(ca: string): string {
  return createHash('sha256').update(ca).digest('hex');
}
