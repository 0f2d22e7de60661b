/**
 * The toolchain below the same paths on every machine: links in a folder of /tmp whose name is its digest. A program that could tell
 * by a path where it is rendered could show a reviewer another plan than the one that is applied.
 */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { lstat, mkdir, readlink, rename, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Toolchain } from './toolchain.ts';

/** The parent of the links is not the folder for temporary files of this user: its path differs. */
const PARENT = process.platform === 'win32' ? tmpdir() : '/tmp';
const PRIVATE = 0o700;

/**
 * The toolchain as it is where its links cannot be made: beside a folder of that name that another user made, or the links of another
 * installation of the same version. Call it before each render: what cleans up /tmp removes what is old.
 */
export async function linkToolchain(toolchain: Toolchain, parent = PARENT): Promise<Toolchain> {
  const folder = join(parent, `kubenode-toolchain-${toolchain.digest.replace(/^sha256:/, '').slice(0, 16)}`);
  try {
    await makePrivate(folder);
    const { links, linked } = planLinks(toolchain, folder);
    for (const [path, target] of links) await ensureLink(path, target);
    return linked;
  } catch {
    return toolchain;
  }
}

/** Plans the links. Pure. */
export function planLinks(
  toolchain: Toolchain,
  folder: string,
): { readonly links: ReadonlyMap<string, string>; readonly linked: Toolchain } {
  const { code, packages, closure } = toolchain;
  const nameOf = new Map(
    Object.entries(closure).map(([name, path]) => [path, join(folder, 'node_modules', name)]),
  );
  const withLinks = (folders: Toolchain['packages']): Toolchain['packages'] =>
    Object.fromEntries(Object.entries(folders).map(([name, path]) => [name, nameOf.get(path) ?? path]));
  const ownCode = join(folder, 'code');
  const inCode = (path: string): string => join(ownCode, path.slice(code.length));
  const manifest = join(folder, 'package.json');
  const links = new Map([
    ...[...nameOf].map(([path, link]) => [link, path] as const),
    [ownCode, code] as const,
    [manifest, join(dirname(code), 'package.json')] as const,
  ]);
  const linked: Toolchain = {
    ...toolchain,
    packages: withLinks(packages),
    closure: withLinks(closure),
    code: ownCode,
    constructs: inCode(toolchain.constructs),
    harness: inCode(toolchain.harness),
    // By the permission model of Node the links lead to what is outside of the folder.
    readable: [`${folder}/`],
  };
  return { links, linked };
}

async function makePrivate(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: PRIVATE });
  const found = await lstat(folder);
  const isOurs = found.isDirectory() && (found.mode & 0o777) === PRIVATE && found.uid === process.getuid?.();
  if (!isOurs) throw new Error(`${folder} belongs to another user`);
}

/** Another process may make the same one. An installation that was removed leaves its links behind. */
async function ensureLink(path: string, target: string): Promise<void> {
  const found = await readlink(path).catch(() => undefined);
  if (found === target) return;
  if (found !== undefined && existsSync(found)) throw new Error(`${path} leads to another installation`);
  await mkdir(dirname(path), { recursive: true, mode: PRIVATE });
  const beside = `${path}.${randomBytes(6).toString('hex')}`;
  await symlink(target, beside);
  await rename(beside, path);
}
