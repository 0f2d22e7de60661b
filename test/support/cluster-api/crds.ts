/** The published CRDs of Cluster API, from its Go module. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { findProgram, run } from '../node-kit/shell.ts';

/** docs/guides/cluster-api.md names it as the version that was tried. */
export const CLUSTER_API_VERSION = 'v1.14.2';
const MODULE = `sigs.k8s.io/cluster-api@${CLUSTER_API_VERSION}`;
/** Without a cache, over a slow line. */
const DOWNLOAD_MS = 10 * 60_000;
const FOLLOWED_CRDS = ['cluster.x-k8s.io_clusters.yaml', 'cluster.x-k8s.io_machines.yaml'];

/** Returns why this machine cannot read the module. */
export const noClusterApiReason =
  findProgram('go') === undefined ? 'the CRDs of Cluster API are in a Go module: install go' : undefined;

/** Returns these CRDs, by default those of Clusters and Machines, without the conversion webhook that their installation adds: both versions are served as they are. */
export async function clusterApiCrds(
  files: readonly string[] = FOLLOWED_CRDS,
): Promise<readonly KubeObject[]> {
  const module = await clusterApiModule();
  const read = async (file: string): Promise<KubeObject> =>
    parse(await readFile(join(module, 'core', 'config', 'crd', 'bases', file), 'utf8')) as KubeObject;
  return await Promise.all(files.map(read));
}

const KUBEADM_CRDS = ['kubeadmconfigs', 'kubeadmconfigtemplates'];

/** Returns the CRDs of the kubeadm bootstrap provider, with the labels of its contracts and without its conversion webhook: v1beta2 is written. */
export async function kubeadmCrds(): Promise<readonly KubeObject[]> {
  const folder = join(await clusterApiModule(), 'bootstrap', 'kubeadm', 'config', 'crd', 'bases');
  const labels = { 'cluster.x-k8s.io/v1beta1': 'v1beta1', 'cluster.x-k8s.io/v1beta2': 'v1beta2' };
  return await Promise.all(
    KUBEADM_CRDS.map(async (plural) => {
      const text = await readFile(join(folder, `bootstrap.cluster.x-k8s.io_${plural}.yaml`), 'utf8');
      const crd = parse(text) as KubeObject;
      return { ...crd, metadata: { ...crd.metadata, labels } };
    }),
  );
}

/** Returns the folder of the module, whose manifests are read. */
export async function clusterApiModule(): Promise<string> {
  const { stdout } = await run('go', ['mod', 'download', '-json', MODULE], DOWNLOAD_MS);
  return (JSON.parse(stdout) as { readonly Dir: string }).Dir;
}
