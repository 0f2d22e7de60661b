/**
 * Builds deploy/Dockerfile with buildah, as it is, and on it the image with a CA of one's own, by the Dockerfile of the guide. No
 * registry has a base image for these tests: it is made here under the name in FROM, as the official one is made, of Debian, Node.js,
 * npm and the user `node`.
 */
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { dockerInstructions } from '../dockerfile.ts';
import { packedTarball } from '../packed.ts';
import { tempFolder } from '../temp.ts';
import { debianBase } from './base.ts';
import { findProgram, run } from './shell.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const GUIDE = join(ROOT, 'docs/guides/install.md');
const CERTIFICATES = 'etc/ssl/certs/ca-certificates.crt';
/** What the Node.js of npm needs besides a minimal Debian. */
const LIBRARIES = ['libatomic1'];
/** An image is built in about a minute and a half; the network may be slow. */
const BUILD_MS = 600_000;

/** Why no engine builds the Dockerfile here. */
export function noEngineReason(): string | undefined {
  return findProgram('buildah') === undefined
    ? 'no container engine builds deploy/Dockerfile: apt-get install buildah'
    : undefined;
}

/** Path of an archive for `ctr image import`. The image trusts this CA, too. */
export async function buildProductImage(name: string, caPem: string): Promise<string> {
  const store = tempFolder('buildah');
  const { dockerfile, from } = dockerfileOfGuide();
  await makeBase(store);
  await build(store, { name: from, folder: await productContext(), dockerfile: 'deploy/Dockerfile' });
  const folder = tempFolder('own-ca');
  writeFileSync(join(folder, 'Dockerfile'), dockerfile);
  writeFileSync(join(folder, 'our-ca.crt'), caPem);
  await build(store, { name, folder, dockerfile: 'Dockerfile' });
  const archive = join(store, 'image.tar');
  await buildah(store, 'push', name, `docker-archive:${archive}:${name}`);
  return archive;
}

/** What the build reads: the packed package and the lock file. */
async function productContext(): Promise<string> {
  const folder = tempFolder('context');
  const tarball = await packedTarball();
  copyFileSync(tarball, join(folder, tarball.slice(dirname(tarball).length + 1)));
  copyFileSync(join(ROOT, 'package-lock.json'), join(folder, 'package-lock.json'));
  cpSync(join(ROOT, 'deploy'), join(folder, 'deploy'), { recursive: true });
  return folder;
}

async function makeBase(store: string): Promise<void> {
  const [version = ''] = dockerInstructions('ARG');
  const [image = ''] = (dockerInstructions('FROM')[0] ?? '').split(' ');
  const name = image.replace('${NODE_VERSION}', version.replace('NODE_VERSION=', ''));
  const suite = /-(?<suite>\w+)-slim$/.exec(name)?.groups?.['suite'] ?? '';
  const debian = await debianBase(suite, LIBRARIES);
  const container = await buildah(store, 'from', 'scratch');
  const root = await buildah(store, 'mount', container);
  await run('cp', ['-a', `${debian}/.`, root], BUILD_MS);
  putNode(root);
  await run('chroot', [root, 'useradd', '--uid', '1000', '--user-group', '--create-home', 'node'], BUILD_MS);
  await buildah(store, 'umount', container);
  // The certificates are those of this machine, which may reach npm only through a proxy with a CA of its own.
  const env = ['--env', 'PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'];
  await buildah(store, 'config', ...env, '--env', `NODE_EXTRA_CA_CERTS=/${CERTIFICATES}`, container);
  await buildah(store, 'commit', '--rm', container, `docker.io/library/${name}`);
}

function putNode(root: string): void {
  const npm = dirname(dirname(realpathSync(findProgram('npm') ?? '')));
  const modules = join(root, 'usr/local/lib/node_modules');
  mkdirSync(modules, { recursive: true });
  cpSync(npm, join(modules, 'npm'), { recursive: true, verbatimSymlinks: true });
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/local/bin/npm'));
  copyFileSync(process.execPath, join(root, 'usr/local/bin/node'));
  mkdirSync(join(root, dirname(CERTIFICATES)), { recursive: true });
  copyFileSync(`/${CERTIFICATES}`, join(root, CERTIFICATES));
}

/** Word for word. */
function dockerfileOfGuide(): { readonly dockerfile: string; readonly from: string } {
  const [, dockerfile = ''] = /```dockerfile\n([\s\S]*?)```/.exec(readFileSync(GUIDE, 'utf8')) ?? [];
  return { dockerfile, from: /^FROM (?<from>\S+)$/m.exec(dockerfile)?.groups?.['from'] ?? '' };
}

interface ImageBuild {
  readonly name: string;
  /** The context. */
  readonly folder: string;
  /** Inside it. */
  readonly dockerfile: string;
}

async function build(store: string, { name, folder, dockerfile }: ImageBuild): Promise<void> {
  await buildah(store, 'bud', '--isolation', 'chroot', '-f', join(folder, dockerfile), '-t', name, folder);
}

/** With a store of its own, so that images of this machine are neither used nor changed. */
async function buildah(store: string, ...args: readonly string[]): Promise<string> {
  const own = ['--root', join(store, 'images'), '--runroot', join(store, 'run'), '--storage-driver', 'vfs'];
  const { stdout } = await run('buildah', [...own, ...args], BUILD_MS);
  return stdout.trim();
}
