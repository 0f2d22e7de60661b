/** Keeps what was at a path before a component first wrote it, so that a removal leaves the host as it was. */
import { createHash } from 'node:crypto';
import { dirname } from 'node:path/posix';
import { mergeBytes, unmergeBytes } from '../files/merge.ts';
import { isMergeableJson } from '../files/merge-json.ts';
import { decodeText } from '../files/text.ts';
import { HostError } from '../host/errors.ts';
import type { HostFiles } from '../host/port.ts';
import { backupFile } from '../layout.ts';
import type { Target } from '../target/target.ts';

type Original =
  /** The path was missing, with the directories above it that were missing, too, deepest first. */
  | { readonly type: 'Missing'; readonly missingParents: readonly string[] }
  | { readonly type: 'Link'; readonly target: string }
  | { readonly type: 'File'; readonly mode: string; readonly owner: string; readonly base64: string };

/** The maximum size of a file that a component writes into: its own content has at most 64 KiB. */
export const MAX_FILE_BYTES = 4 * 1024 ** 2;
const ATTRIBUTES = { mode: '0600', owner: 'root:root' };

export async function hasBackup(files: HostFiles, component: string, path: string): Promise<boolean> {
  return (await files.stat(backupPath(component, path))) !== undefined;
}

export async function backUp(files: HostFiles, component: string, path: string): Promise<void> {
  const content = new TextEncoder().encode(JSON.stringify(await readOriginal(files, path)));
  await files.write(backupPath(component, path), content, ATTRIBUTES);
}

/** Restores what was at a path. The backup is removed last: a crash before that restores once more. */
export async function restore(files: HostFiles, target: Target, path: string): Promise<void> {
  const backup = backupPath(target.component, path);
  const stored = await files.read(backup);
  if (!stored) return;
  const original = JSON.parse(new TextDecoder().decode(stored)) as Original;
  const merged =
    original.type !== 'Link' && target.files.find((file) => file.path === path && file.merge !== 'Replace');
  const found = merged && (await files.read(path));
  if (merged && found) {
    await takeOut(files, { file: merged, found, original });
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

/** Removes a file and the directories above it that were missing before. A directory in which others placed something meanwhile stays. */
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
  readonly found: Uint8Array;
  readonly original: Original;
}

async function takeOut(files: HostFiles, { file, found, original }: MergedFileRemoval): Promise<void> {
  const before = original.type === 'File' ? Buffer.from(original.base64, 'base64') : Buffer.alloc(0);
  const rest = unmergeBytes(file, found, before);
  const isEmpty = decodeText(rest).trim() === '';
  if (isEmpty && original.type === 'Missing') return await putBack(files, file.path, original);
  const attributes = original.type === 'File' ? original : { mode: file.mode, owner: file.owner };
  await files.write(file.path, rest, attributes);
}

/** Writes the content of the target at a path, into what is there. */
export async function writeTargetFile(files: HostFiles, target: Target, path: string): Promise<void> {
  const file = target.files.find((each) => each.path === path);
  if (!file) return;
  const found = file.merge === 'Replace' ? EMPTY : await readMergeable(files, path);
  await keepInvalid(files, target, { file, found });
  await files.write(path, mergeBytes(file, found), {
    mode: file.mode.padStart(4, '0'),
    owner: file.owner,
  });
}

const EMPTY = new Uint8Array();

/** Reads what is at a path, through a link, too: what others wrote behind it stays. */
async function readMergeable(files: HostFiles, path: string): Promise<Uint8Array> {
  const found = (await files.read(path)) ?? EMPTY;
  if (found.length <= MAX_FILE_BYTES) return found;
  throw new HostError('TooLarge', `${path} has more than ${MAX_FILE_BYTES} bytes: it is not merged`, {
    where: path,
    hint: 'make the file smaller, or correct the path in the MachineComponent',
  });
}

/**
 * Keeps content that cannot be merged. A typing error of a person must not cost what else the person wrote: the last such content is kept
 * beside the backup.
 */
async function keepInvalid(
  files: HostFiles,
  { component }: Target,
  { file, found }: { readonly file: Target['files'][number]; readonly found: Uint8Array },
): Promise<void> {
  if (file.merge !== 'Json' || isMergeableJson(decodeText(found))) return;
  await files.write(invalidFile(component, file.path), found, ATTRIBUTES);
}

export function invalidFile(component: string, path: string): string {
  return `${backupPath(component, path)}.invalid`;
}

function backupPath(component: string, path: string): string {
  return backupFile(component, createHash('sha256').update(path).digest('hex'));
}
