/** Archives of images with one layer, as `docker save` writes them, and their import into the containerd of a node: nodes have no registry. */
import { createHash } from 'node:crypto';
import { createReadStream, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { TestNode } from './node.ts';
import { run } from './shell.ts';

export interface ImageContent {
  /** With registry and tag. */
  readonly name: string;
  /** The folder that is its root file system. */
  readonly root: string;
  /** The settings of its containers, as in the specification of OCI images. */
  readonly config: Readonly<Record<string, unknown>>;
}

/** An archive of a large image is written in seconds, by a busy machine in minutes. */
const ARCHIVE_MS = 600_000;

/** Path of the archive in that folder. All files of the image belong to root. */
export async function writeImageArchive(folder: string, image: ImageContent): Promise<string> {
  const layer = await tarOf(folder, 'layer.tar', image.root, ['.']);
  const config = {
    architecture: process.arch === 'x64' ? 'amd64' : process.arch,
    os: 'linux',
    config: image.config,
    rootfs: { type: 'layers', diff_ids: [`sha256:${await sha256(layer)}`] },
  };
  const manifest = [{ Config: 'config.json', RepoTags: [image.name], Layers: [basename(layer)] }];
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest));
  return await tarOf(folder, 'image.tar', folder, ['manifest.json', 'config.json', basename(layer)]);
}

/**
 * Imports an archive, which the node has at that path, and gives its image a name by digest as well: pods can use it as one that was
 * pulled by digest. Returns that name.
 */
export async function importByDigest(node: TestNode, path: string, name: string): Promise<string> {
  await ctr(node, 'import', path);
  const listed = await ctr(node, 'list', `name==${name}`);
  const [digest] = /sha256:[0-9a-f]{64}/.exec(listed) ?? [];
  if (digest === undefined) throw new Error(`${path} has no image ${name}: ${listed}`);
  const reference = `${name.replace(/:[^:/]+$/, '')}@${digest}`;
  await ctr(node, 'tag', '--force', name, reference);
  return reference;
}

async function ctr(node: TestNode, ...args: readonly string[]): Promise<string> {
  const { stdout } = await node.run('ctr', '--namespace', 'k8s.io', 'image', ...args);
  return stdout;
}

async function tarOf(folder: string, name: string, from: string, paths: readonly string[]): Promise<string> {
  const target = join(folder, name);
  const args = ['--create', '--file', target, '--owner=0', '--group=0', '-C', from, ...paths];
  await run('tar', args, ARCHIVE_MS);
  return target;
}

async function sha256(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
