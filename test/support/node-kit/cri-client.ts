/** What CleanDisk asks of crictl, as a program of our own over the real API of the runtime: crictl comes with no package. */
import { fileURLToPath } from 'node:url';
import { builtProgram, type GoProgram, whyNotBuilt } from './go-program.ts';

const CRI_CLIENT: GoProgram = {
  program: 'crictl',
  version: 'v0.36.3',
  source: fileURLToPath(new URL('./cri-client', import.meta.url)),
  settings: [],
};

/** Path of the program. */
export async function criClient(): Promise<string> {
  return await builtProgram(CRI_CLIENT);
}

/** Why this machine has none and cannot build one. */
export async function noCriClientReason(): Promise<string | undefined> {
  return await whyNotBuilt(CRI_CLIENT);
}
