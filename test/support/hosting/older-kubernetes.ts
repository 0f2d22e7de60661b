/** A control plane of the minor version before, which tests upgrade from: built once for each machine. */
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { builtProgram, type GoProgram, whyNotBuilt } from '../node-kit/go-program.ts';
import { OLD_VERSION } from './objects.ts';

const PROGRAM: GoProgram = {
  program: 'older-kubernetes',
  version: OLD_VERSION,
  source: fileURLToPath(new URL('./older-kubernetes', import.meta.url)),
  settings: versionSettings(),
};

const NAMES = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'];

/** Returns the path of the program, which takes several minutes to build. */
export async function olderKubernetesProgram(): Promise<string> {
  return await builtProgram(PROGRAM);
}

/** Returns the folder with its programs, as --kube-assets takes it. */
export async function olderKubernetes(parent: string): Promise<string> {
  const program = await olderKubernetesProgram();
  const folder = join(parent, OLD_VERSION);
  mkdirSync(folder);
  for (const name of NAMES) symlinkSync(program, join(folder, name));
  return folder;
}

/** Why this machine has none and cannot build one. */
export async function noOlderKubernetesReason(): Promise<string | undefined> {
  return await whyNotBuilt(PROGRAM);
}

/** Without these it reports v0.0.0. */
function versionSettings(): readonly string[] {
  const [major, minor] = OLD_VERSION.slice(1).split('.');
  const values = { gitVersion: OLD_VERSION, gitMajor: major, gitMinor: minor };
  return Object.entries(values).flatMap(([name, value]) =>
    ['component-base', 'client-go/pkg'].map((path) => `-X k8s.io/${path}/version.${name}=${value}`),
  );
}
