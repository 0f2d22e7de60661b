/** Reads the audit log of an API server while it is written. */
import type { FileHandle } from 'node:fs/promises';

const CHUNK_BYTES = 2 ** 20;

/**
 * Returns the complete lines that were added since the last time: to parse the whole log again for each question would take
 * the time of the processes that are measured.
 */
export function createLineReader(file: FileHandle): () => Promise<readonly string[]> {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  let offset = 0;
  let rest = Buffer.alloc(0);
  return async () => {
    const lines: string[] = [];
    for (;;) {
      const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, offset);
      if (bytesRead === 0) return lines;
      offset += bytesRead;
      const bytes = Buffer.concat([rest, chunk.subarray(0, bytesRead)]);
      const end = bytes.lastIndexOf('\n') + 1;
      rest = bytes.subarray(end);
      lines.push(...bytes.toString('utf8', 0, end).split('\n').slice(0, -1));
    }
  };
}

/** Returns the flags with which an API server writes what the policy selects to the log. */
export function auditFlags(policyFile: string, logFile: string): readonly string[] {
  return [`--audit-policy-file=${policyFile}`, `--audit-log-path=${logFile}`, '--audit-log-maxsize=1000'];
}
