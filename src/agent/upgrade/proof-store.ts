/** The proof of a new agent on the host. */
import { isDeepStrictEqual } from 'node:util';
import type { HostFiles } from '../host/port.ts';
import { PROOF_FILE } from '../layout.ts';
import { readStateFile, writeStateFile } from '../state-file.ts';
import type { UpgradeProof } from './proof.ts';

export async function readProof(files: Pick<HostFiles, 'read'>): Promise<UpgradeProof | undefined> {
  return await readStateFile<UpgradeProof>(files, PROOF_FILE);
}

/** A report more often than the watchdog needs wears out the disk. */
const REPORT_MS = 5000;

export interface ProofWriterOptions {
  readonly files: Pick<HostFiles, 'write'>;
  readonly pid: number;
  readonly uptimeMs: () => number;
}

export type WriteProof = (key: string, missing: readonly string[]) => Promise<void>;

export function createProofWriter({ files, pid, uptimeMs }: ProofWriterOptions): WriteProof {
  let last: UpgradeProof | undefined;
  return async (key, missing) => {
    const proof = { key, pid, atMs: uptimeMs(), missing };
    const isSame = isDeepStrictEqual({ ...last, atMs: proof.atMs }, proof);
    if (isSame && last && proof.atMs - last.atMs < REPORT_MS) return;
    await writeStateFile(files, PROOF_FILE, proof);
    last = proof;
  };
}
