/** An image with the programs of a control plane, as the images of Kubernetes have them: in the PATH, under their names. */
import { link, mkdir, realpath, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { writeImageArchive } from '../../node-kit/image-archive.ts';
import { run } from '../../node-kit/shell.ts';

const PROGRAMS = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const;
const FOLDER = 'usr/local/bin';

/** Path of an archive, in that folder, for `ctr image import`. `binaries` is the folder of the programs. */
export async function writeKubeImage(folder: string, name: string, binaries: string): Promise<string> {
  const root = join(folder, 'root');
  await mkdir(join(root, FOLDER), { recursive: true });
  await mkdir(join(root, 'tmp'));
  const placed = new Map<string, string>();
  for (const program of PROGRAMS) {
    const source = await realpath(join(binaries, program));
    const same = placed.get(source);
    const target = join(root, FOLDER, program);
    // One program with several names, as kubenode builds it, is in the image once.
    if (same === undefined) await copyProgram(source, target);
    else await symlink(same, target);
    placed.set(source, same ?? program);
  }
  return await writeImageArchive(folder, {
    name,
    root,
    config: { Env: [`PATH=/${FOLDER}`], WorkingDir: '/' },
  });
}

/** A link costs no space; it needs the same file system. */
async function copyProgram(source: string, target: string): Promise<void> {
  await link(source, target).catch(() => run('cp', ['--reflink=auto', '--', source, target]));
}
