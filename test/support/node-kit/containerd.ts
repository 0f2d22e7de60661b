/** A real containerd 2 with its shim: Debian's is of another major version, with another configuration. */
import { fileURLToPath } from 'node:url';
import { builtProgram, type GoProgram, isBuilt, whyNotBuilt } from './go-program.ts';

const VERSION = 'v2.3.4';
const NO_SETTINGS: readonly string[] = [];

const CONTAINERD: GoProgram = {
  program: 'containerd',
  version: VERSION,
  source: fileURLToPath(new URL('./containerd', import.meta.url)),
  settings: NO_SETTINGS,
};

const SHIM: GoProgram = {
  program: 'containerd-shim-runc-v2',
  version: VERSION,
  source: fileURLToPath(new URL('./containerd-shim', import.meta.url)),
  settings: NO_SETTINGS,
};

/** Paths of the programs. Built once for each machine, which takes minutes of CPU. */
export async function containerdPrograms(): Promise<readonly string[]> {
  return [await builtProgram(CONTAINERD), await builtProgram(SHIM)];
}

/** Why this machine has none and does not build one. */
export async function noContainerdReason(): Promise<string | undefined> {
  const isCi = process.env['CI'] === 'true' && !(await isBuilt(CONTAINERD));
  if (isCi) return 'to build containerd takes minutes that CI has not: npm run test:nodes -- fleet builds it';
  return (await whyNotBuilt(CONTAINERD)) ?? (await whyNotBuilt(SHIM));
}
