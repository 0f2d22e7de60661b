/** The published CRDs of Karpenter and its kwok provider, from the Go module of Karpenter. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { findProgram, run } from '../node-kit/shell.ts';

/** docs/guides/external-nodes.md names it as the version that was tried. Later ones need a later Go than 1.26.8. */
export const KARPENTER_VERSION = 'v1.14.1';
const MODULE = `sigs.k8s.io/karpenter@${KARPENTER_VERSION}`;
/** Without a cache, over a slow line. */
const DOWNLOAD_MS = 10 * 60_000;

/** Returns why this machine cannot read the module. */
export const noKarpenterReason =
  findProgram('go') === undefined ? 'the CRDs of Karpenter are in a Go module: install go' : undefined;

export type KarpenterCrd = KubeObject & {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string };
    readonly versions: readonly { readonly name: string }[];
  };
};

export async function nodeClaimCrd(): Promise<KarpenterCrd> {
  const found = (await karpenterCrds()).find(({ spec }) => spec.names.kind === 'NodeClaim');
  if (!found) throw new Error(`${MODULE} has no CRD of NodeClaims`);
  return found;
}

export async function karpenterCrds(): Promise<readonly KarpenterCrd[]> {
  const { stdout } = await run('go', ['mod', 'download', '-json', MODULE], DOWNLOAD_MS);
  const { Dir } = JSON.parse(stdout) as { readonly Dir: string };
  const folders = [join(Dir, 'pkg', 'apis', 'crds'), join(Dir, 'kwok', 'apis', 'crds')];
  return (await Promise.all(folders.map(crdsIn))).flat();
}

async function crdsIn(folder: string): Promise<readonly KarpenterCrd[]> {
  const files = await readdir(folder);
  const read = async (file: string): Promise<KarpenterCrd> =>
    parse(await readFile(join(folder, file), 'utf8')) as KarpenterCrd;
  return await Promise.all(files.toSorted().map(read));
}
