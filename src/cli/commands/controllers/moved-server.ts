/**
 * An API server whose port was taken listens on another one after the next start. Its machines would call the old one forever: each
 * keeps the address from when it joined.
 */
import { join } from 'node:path';
import { IDENTITY_KUBECONFIG } from '../../../agent/layout.ts';
import type { Clock } from '../../../os/clock.ts';
import { PRIVATE_MODE, readFileIfExists, writeFileAtomic } from '../../../os/files.ts';
import { instanceFolder, listUids } from '../../../providers/local/folders.ts';
import { endMarked } from '../../../providers/local/processes.ts';

/** Of each instance below the folder. What runs of one with the old address ends, and the provider starts it again. */
export async function followServer(machines: string, server: string, clock: Clock): Promise<void> {
  for (const uid of await listUids(machines)) {
    const { path, bootstrapFile, hostFolder } = instanceFolder(machines, uid);
    const ofKubelet = await replaceServer(join(hostFolder, IDENTITY_KUBECONFIG), server);
    // The agent takes its own from here, each time that it starts.
    const ofAgent = await replaceServer(bootstrapFile, server);
    if (ofKubelet || ofAgent) await endMarked(path, clock);
  }
}

/** Whether the file, in JSON, had another one. */
async function replaceServer(file: string, server: string): Promise<boolean> {
  const text = await readFileIfExists(file);
  const moved = text?.replace(/("server": ?)"[^"]*"/, (_, name: string) => name + JSON.stringify(server));
  if (moved === undefined || moved === text) return false;
  await writeFileAtomic(file, moved, PRIVATE_MODE);
  return true;
}
