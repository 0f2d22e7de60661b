/** Computes the digest of what a process runs, read from /proc: it is right also after its file was replaced. */
import { sha256OfFile } from '../../os/files.ts';

const MAX_DIGESTS = 200;

/** Creates the reader. It reads the program once for each process: a program may have hundreds of megabytes. */
export function createProgramDigests(
  proc = '/proc',
): (pid: number, startId: string) => Promise<string | undefined> {
  const known = new Map<string, string>();
  return async (pid, startId) => {
    const key = `${pid}-${startId}`;
    const digest = known.get(key) ?? (await sha256OfFile(`${proc}/${pid}/exe`).catch(() => undefined));
    if (digest === undefined) return undefined;
    if (known.size >= MAX_DIGESTS) known.clear();
    known.set(key, digest);
    return digest;
  };
}
