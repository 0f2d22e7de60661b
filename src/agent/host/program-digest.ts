/** What a process runs, read from /proc: right also after its file was replaced. */
import { sha256OfFile } from '../../os/files.ts';

const MAX_DIGESTS = 200;

/** Reads the program once for each process: it may have hundreds of megabytes. */
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
