/**
 * A hub whose pods run on one real node: API server, controllers and scheduler of this machine, a kubelet with containerd and a kube-proxy
 * on the node, volumes on its disk, and the images that `kubenode hosting` runs control planes from. Must not import vitest: benchmarks
 * use it too.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { stringify } from 'yaml';
import { CONTROL_PLANE_VERSION, ETCD_VERSION } from '../../../../src/local/binaries/versions.ts';
import type { ApiServer, ApiServerOptions } from '../../control-plane-server.ts';
import { startControllerManager, startScheduler } from '../../controller-manager.ts';
import { giveStorage } from '../../node-kit/capacity.ts';
import { importImage } from '../../node-kit/image.ts';
import { importByDigest } from '../../node-kit/image-archive.ts';
import { KUBELET_CONFIGURATION } from '../../node-kit/kubelet.ts';
import { putFile } from '../../node-kit/rootfs.ts';
import { type NodeKit, nodeKit, type TestNode } from '../../node-kit.ts';
import { writeKubeImage } from './kube-image.ts';
import { kubeProxyBind, putKubeProxy } from './kube-proxy.ts';
import { RETAINING_CLASS, startProvisioner } from './volumes.ts';

export interface PodHub {
  readonly server: ApiServer;
  readonly kit: NodeKit;
  readonly node: TestNode;
  /** The image of kubenode, by digest. */
  readonly kubenodeImage: string;
  /** Path of the file for `kubenode hosting --images`. */
  readonly imagesFile: string;
  stop(): Promise<void>;
}

export interface PodHubParts {
  /** For the archives of images, on a disk with room for 1 GB. */
  readonly folder: string;
  readonly startServer: (options: ApiServerOptions) => Promise<ApiServer>;
  /** Returns the path of an archive of the image of kubenode with that name. */
  readonly kubenodeArchive: (name: string) => Promise<string>;
  /** The programs of an older version, for the file of images. */
  readonly older?: OlderPrograms;
}

export interface OlderPrograms {
  readonly version: string;
  readonly etcdVersion: string;
  /** The folder of its programs. */
  readonly folder: string;
}

const NODE = 'hub-1';
const KUBE_IMAGE = 'registry.example.com/hosted/kubernetes:test';
const KUBENODE_IMAGE = 'registry.example.com/platform/kubenode:test';
const OLDER_IMAGE = 'registry.example.com/hosted/kubernetes:older';
const KUBE_ARCHIVE = '/srv/kubernetes.tar';
const OLDER_ARCHIVE = '/srv/older-kubernetes.tar';
const KUBENODE_ARCHIVE = '/srv/kubenode.tar';
/** Of the Service `kubernetes`, which pods use as the name of the API server. */
const SERVICE_ADDRESS = '10.96.0.1';

export async function startPodHub(parts: PodHubParts): Promise<PodHub> {
  const ends: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    // oxlint-disable-next-line no-await-in-loop -- what started last ends first
    for (let end = ends.pop(); end; end = ends.pop()) await end();
  };
  try {
    return { ...(await startParts(parts, ends)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The arguments of `kubenode` that run `kubenode hosting` in the hub, by one pod. */
export function hostingArgs({ server, imagesFile, kubenodeImage }: PodHub): readonly string[] {
  const images = ['--images', imagesFile, '--image', kubenodeImage];
  const port = new URL(server.url).port;
  return ['install', '--hosting', ...images, '--replicas', '1', '--egress-port', port];
}

async function startParts(
  { folder, startServer, kubenodeArchive, older }: PodHubParts,
  ends: (() => Promise<unknown>)[],
): Promise<Omit<PodHub, 'stop'>> {
  const kit = await nodeKit();
  ends.push(() => kit.close());
  const server = await startServer({
    bindAddress: '0.0.0.0',
    names: [kit.hostAddress, SERVICE_ADDRESS],
  });
  ends.push(() => server.stop());
  ends.push(await startControllerManager(server, ['*']), await startScheduler(server));
  const kubeArchive = await archiveOf(folder, KUBE_IMAGE, dirname(server.kubectl));
  const olderArchive = older && (await archiveOf(folder, OLDER_IMAGE, older.folder));
  const node = await kit.boot({
    name: NODE,
    cluster: server,
    binds: [
      [kubeArchive, KUBE_ARCHIVE],
      ...(olderArchive === undefined ? [] : ([[olderArchive, OLDER_ARCHIVE]] as const)),
      [await kubenodeArchive(KUBENODE_IMAGE), KUBENODE_ARCHIVE],
      await kubeProxyBind(),
    ],
    prepare: (root) => prepareNode(root, server, kit.hostAddress),
  });
  await importImage(node);
  const kubernetes = await importByDigest(node, KUBE_ARCHIVE, KUBE_IMAGE);
  const olderImage = older && (await importByDigest(node, OLDER_ARCHIVE, OLDER_IMAGE));
  const kubenodeImage = await importByDigest(node, KUBENODE_ARCHIVE, KUBENODE_IMAGE);
  await giveStorage(server.client, node);
  ends.push(await startProvisioner(server.client, node));
  const imagesFile = join(folder, 'images.yaml');
  const current = { version: CONTROL_PLANE_VERSION, etcdVersion: ETCD_VERSION, image: kubernetes };
  const former = older && olderImage !== undefined ? [{ ...older, image: olderImage }] : [];
  await writeFile(imagesFile, imagesText([...former, current], kubenodeImage));
  return { server, kit, node, kubenodeImage, imagesFile };
}

async function prepareNode(root: string, server: ApiServer, gateway: string): Promise<void> {
  await putKubeProxy(root, { server, gateway, node: NODE });
  await putFile(root, 'etc/kubernetes/ca.crt', server.caPem);
  // The API server reads logs of containers, with the certificate that its CA signed for it.
  const x509 = { clientCAFile: '/etc/kubernetes/ca.crt' };
  const { authentication } = KUBELET_CONFIGURATION;
  const configuration = { ...KUBELET_CONFIGURATION, authentication: { ...authentication, x509 } };
  await putFile(root, 'etc/kubernetes/kubelet.json', JSON.stringify(configuration, undefined, 2));
}

async function archiveOf(folder: string, image: string, programs: string): Promise<string> {
  const own = join(folder, image.slice(image.lastIndexOf('/') + 1).replace(':', '-'));
  await mkdir(own);
  return await writeKubeImage(own, image, programs);
}

interface VersionImage {
  readonly version: string;
  readonly etcdVersion: string;
  readonly image: string;
}

function imagesText(versions: readonly VersionImage[], kubenode: string): string {
  const programs = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'];
  return stringify({
    versions: versions.map(({ version, etcdVersion, image }) => ({
      version,
      etcdVersion,
      images: Object.fromEntries(programs.map((program) => [program, image])),
    })),
    kubenode,
    backupStorageClass: RETAINING_CLASS,
  });
}
