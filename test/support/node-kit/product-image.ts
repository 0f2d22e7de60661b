/**
 * The image of kubenode for a machine without a container engine: what deploy/Dockerfile puts into it, by the same commands, on a base
 * of our own. The base is Node.js with its libraries, the certificates of this machine, and the user of the Dockerfile.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { dockerInstructions } from '../dockerfile.ts';
import { packedTarball } from '../packed.ts';
import { writeImageArchive } from './image-archive.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const CERTIFICATES = 'etc/ssl/certs/ca-certificates.crt';
const NODE = 'usr/local/bin/node';

/** Path of an archive in that folder for `ctr image import`. The image trusts this CA, too. */
export async function imitateProductImage(folder: string, name: string, caPem: string): Promise<string> {
  const root = join(folder, 'root');
  const [workdir = '', user = '', entrypoint = '[]'] = ['WORKDIR', 'USER', 'ENTRYPOINT'].map(
    (word) => dockerInstructions(word)[0],
  );
  putBase(root, user, caPem);
  await putProduct(join(root, workdir));
  return await writeImageArchive(folder, {
    name,
    root,
    config: {
      User: user,
      Entrypoint: JSON.parse(entrypoint) as unknown,
      WorkingDir: '/',
      Env: ['PATH=/usr/local/bin:/usr/bin:/bin', ...dockerInstructions('ENV')],
    },
  });
}

function putBase(root: string, user: string, caPem: string): void {
  const [uid, gid] = user.split(':');
  write(
    root,
    'etc/passwd',
    `root:x:0:0::/root:/sbin/nologin\nnode:x:${uid}:${gid}::/home/node:/sbin/nologin\n`,
  );
  write(root, 'etc/group', `root:x:0:\nnode:x:${gid}:\n`);
  write(root, CERTIFICATES, `${readFileSync(`/${CERTIFICATES}`, 'utf8')}\n${caPem}`);
  copy(process.execPath, join(root, NODE));
  const libraries = execFileSync('ldd', [process.execPath], { encoding: 'utf8' }).match(/\/\S+/g) ?? [];
  for (const library of libraries) copy(library, join(root, library));
  mkdirSync(join(root, 'tmp'), { mode: 0o1777 });
}

/** The first stage of the Dockerfile. */
async function putProduct(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const tarball = await packedTarball();
  const [unpack = '', install = ''] = dockerInstructions('RUN');
  run(folder, unpack.replace(/\/tmp\/kubenode-\*\.tgz/, tarball));
  copyFileSync(join(ROOT, 'package-lock.json'), join(folder, 'package-lock.json'));
  run(folder, install);
}

function run(cwd: string, command: string): void {
  execFileSync('sh', ['-ec', command], { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
}

function write(root: string, path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
}
