/** What was at a path before a component first wrote it, so that a removal leaves the host as it was. */
import { createHash } from 'node:crypto';
import { dirname } from 'node:path/posix';
import { mergeFile, unmergeFile } from '../files/merge.ts';
import { HostError } from '../host/errors.ts';
import type { HostFiles } from '../host/port.ts';
import { backupFile } from '../layout.ts';
import type { Target } from '../target/target.ts';

type Original =
  /** With the directories above it that were missing, too, deepest first. */
  | { readonly type: 'Missing'; readonly missingParents: readonly string[] }
  | { readonly type: 'Link'; readonly target: string }
  | { readonly type: 'File'; readonly mode: string; readonly owner: string; readonly base64: string };

const ATTRIBUTES = { mode: '0600', owner: 'root:root' };

export async function hasBackup(files: HostFiles, component: string, path: string): Promise<boolean> {
  return (await files.stat(backupPath(component, path))) !== undefined;
}

export async function backUp(files: HostFiles, component: string, path: string): Promise<void> {
  const content = new TextEncoder().encode(JSON.stringify(await readOriginal(files, path)));
  await files.write(backupPath(component, path), content, ATTRIBUTES);
}

/** The backup is removed last: a crash before that restores once more. */
export async function restore(files: HostFiles, target: Target, path: string): Promise<void> {
  const backup = backupPath(target.component, path);
  const stored = await files.read(backup);
  if (!stored) return;
  const original = JSON.parse(new TextDecoder().decode(stored)) as Original;
  const merged =
    original.type !== 'Link' && target.files.find((file) => file.path === path && file.merge !== 'Replace');
  const found = merged && (await files.read(path));
  if (merged && found) {
    await takeOut(files, { file: merged, found: new TextDecoder().decode(found), original });
  } else await putBack(files, path, original);
  await files.remove(backup);
}

async function readOriginal(files: HostFiles, path: string): Promise<Original> {
  const stat = await files.stat(path);
  if (!stat) return { type: 'Missing', missingParents: await findMissingParents(files, path) };
  if (stat.type === 'Link') return { type: 'Link', target: stat.target ?? '' };
  if (stat.type !== 'File') {
    throw new HostError(
      'NotSupported',
      `${path} is a ${stat.type.toLowerCase()}: only a file can be replaced`,
      {
        where: path,
        hint: 'remove it from the host, or correct the path in the MachineComponent',
      },
    );
  }
  const content = (await files.read(path)) ?? new Uint8Array();
  return {
    type: 'File',
    mode: stat.mode,
    owner: stat.owner,
    base64: Buffer.from(content).toString('base64'),
  };
}

async function findMissingParents(files: HostFiles, path: string): Promise<readonly string[]> {
  const missing: string[] = [];
  for (let parent = dirname(path); !(await files.stat(parent)); parent = dirname(parent)) {
    missing.push(parent);
  }
  return missing;
}

/** A directory in which others placed something meanwhile stays. */
async function removeWithParents(files: HostFiles, path: string, parents: readonly string[]): Promise<void> {
  await files.remove(path);
  for (const parent of parents) {
    if ((await files.list(parent)).length > 0) return;
    await files.remove(parent);
  }
}

async function putBack(files: HostFiles, path: string, original: Original): Promise<void> {
  if (original.type === 'Missing') await removeWithParents(files, path, original.missingParents);
  else if (original.type === 'Link') await files.link(path, original.target);
  else await files.write(path, Buffer.from(original.base64, 'base64'), original);
}

interface MergedFileRemoval {
  readonly file: Target['files'][number];
  readonly found: string;
  readonly original: Original;
}

async function takeOut(files: HostFiles, { file, found, original }: MergedFileRemoval): Promise<void> {
  const before = original.type === 'File' ? Buffer.from(original.base64, 'base64').toString() : '';
  const rest = unmergeFile(file, found, before);
  if (rest.trim() === '' && original.type === 'Missing') return await putBack(files, file.path, original);
  const attributes = original.type === 'File' ? original : { mode: file.mode, owner: file.owner };
  await files.write(file.path, new TextEncoder().encode(rest), attributes);
}

/** Writes what the target wants at a path, into what is there. */
export async function writeTargetFile(files: HostFiles, target: Target, path: string): Promise<void> {
  const file = target.files.find((each) => each.path === path);
  if (!file) return;
  const stat = await files.stat(path);
  const found = stat?.type === 'File' ? new TextDecoder().decode(await files.read(path)) : '';
  await files.write(path, new TextEncoder().encode(mergeFile(file, found)), {
    mode: file.mode.padStart(4, '0'),
    owner: file.owner,
  });
}

function backupPath(component: string, path: string): string {
  return backupFile(component, createHash('sha256').update(path).digest('hex'));
}
