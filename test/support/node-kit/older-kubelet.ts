/** A real kubelet of the minor version before that of the control plane: the version that tests upgrade from. */
import { fileURLToPath } from 'node:url';
import { builtProgram, type GoProgram, whyNotBuilt } from './go-program.ts';

export const OLDER_KUBELET_VERSION = 'v1.35.4';

const OLDER_KUBELET: GoProgram = {
  program: 'kubelet',
  version: OLDER_KUBELET_VERSION,
  source: fileURLToPath(new URL('./older-kubelet', import.meta.url)),
  settings: versionSettings(),
};

/** Path of the program. Built once for each machine, which takes minutes of CPU. */
export async function olderKubelet(): Promise<string> {
  return await builtProgram(OLDER_KUBELET);
}

/** Why this machine has none and cannot build one. */
export async function noOlderKubeletReason(): Promise<string | undefined> {
  return await whyNotBuilt(OLDER_KUBELET);
}

/** Without these it reports v0.0.0. */
function versionSettings(): readonly string[] {
  const [major, minor] = OLDER_KUBELET_VERSION.slice(1).split('.');
  const values = { gitVersion: OLDER_KUBELET_VERSION, gitMajor: major, gitMinor: minor };
  return Object.entries(values).flatMap(([name, value]) =>
    ['component-base', 'client-go/pkg'].map((path) => `-X k8s.io/${path}/version.${name}=${value}`),
  );
}
