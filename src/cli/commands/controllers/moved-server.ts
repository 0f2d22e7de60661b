/**
 * Gives machines the new address of an API server. A server whose port was taken listens on another one after the next start, and its
 * machines would call the old one forever: each keeps the address from when it joined.
 */
import { join } from 'node:path';
import { IDENTITY_KUBECONFIG } from '../../../agent/layout.ts';
import type { Clock } from '../../../os/clock.ts';
import { PRIVATE_MODE, readFileIfExists, writeFileAtomic } from '../../../os/files.ts';
import { instanceFolder, listUids } from '../../../providers/local/folders.ts';
import { endMarked } from '../../../providers/local/processes.ts';

/**
 * Replaces the server of each instance below the folder. Programs of an instance with the old address are ended, and the provider starts
 * them again.
 */
export async function followServer(machines: string, server: string, clock: Clock): Promise<void> {
  for (const uid of await listUids(machines)) {
    const { path, bootstrapFile, hostFolder } = instanceFolder(machines, uid);
    const ofKubelet = await replaceServer(join(hostFolder, IDENTITY_KUBECONFIG), server);
    // The agent takes its own from here, each time that it starts.
    const ofAgent = await replaceServer(bootstrapFile, server);
    if (ofKubelet || ofAgent) await endMarked(path, clock);
  }
}

/** Replaces the server in a JSON file. Resolves to whether the file had another one. */
async function replaceServer(file: string, server: string): Promise<boolean> {
  const text = await readFileIfExists(file);
  const moved = text?.replace(/("server": ?)"[^"]*"/, (_, name: string) => name + JSON.stringify(server));
  if (moved === undefined || moved === text) return false;
  await writeFileAtomic(file, moved, PRIVATE_MODE);
  return true;
}
