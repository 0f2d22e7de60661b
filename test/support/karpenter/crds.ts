/** The published CRD of NodeClaims, from the Go module of Karpenter. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { findProgram, run } from '../node-kit/shell.ts';

/** docs/guides/external-nodes.md names it as the version that was tried. */
const KARPENTER_VERSION = 'v1.8.0';
const MODULE = `sigs.k8s.io/karpenter@${KARPENTER_VERSION}`;
/** Without a cache, over a slow line. */
const DOWNLOAD_MS = 10 * 60_000;

/** Returns why this machine cannot read the module. */
export const noKarpenterReason =
  findProgram('go') === undefined ? 'the CRD of Karpenter is in a Go module: install go' : undefined;

export async function nodeClaimCrd(): Promise<KubeObject> {
  const { stdout } = await run('go', ['mod', 'download', '-json', MODULE], DOWNLOAD_MS);
  const { Dir } = JSON.parse(stdout) as { readonly Dir: string };
  const file = join(Dir, 'pkg', 'apis', 'crds', 'karpenter.sh_nodeclaims.yaml');
  return parse(await readFile(file, 'utf8')) as KubeObject;
}
