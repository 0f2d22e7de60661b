/** Git's own format of commits, trees and tags: bytes in, facts out. */
import { GitError } from '../errors.ts';
import type { CommitInfo, RawObject, TreeFile } from '../transport.ts';

export const OID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const REVERT = /^This reverts commit (?<oid>[0-9a-f]{40}(?:[0-9a-f]{24})?)\b/m;
const PERSON = /^(?<name>.*?) ?<(?<email>[^>]*)> (?<seconds>-?\d+) [+-]\d{4}$/;

export interface TreeEntry {
  readonly name: string;
  readonly oid: string;
  readonly type: TreeFile['type'] | 'folder';
}

export function parseCommit(oid: string, { type, content }: RawObject): CommitInfo {
  if (type !== 'commit') throw corrupt(oid, `it is a ${type}, not a commit`);
  const [head = '', ...paragraphs] = Buffer.from(content).toString('utf8').split('\n\n');
  const headers = headersOf(head);
  const [tree = ''] = headers.get('tree') ?? [];
  if (!OID.test(tree)) throw corrupt(oid, 'it names no tree');
  return {
    oid,
    tree,
    parents: headers.get('parent') ?? [],
    author: personOf(headers.get('author')).name,
    committedAt: personOf(headers.get('committer')).at,
    ...messageOf(paragraphs.join('\n\n')),
  };
}

function messageOf(message: string): Pick<CommitInfo, 'subject' | 'body' | 'revertOf'> {
  const [subject = '', ...rest] = message.split('\n');
  const revertOf = REVERT.exec(message)?.groups?.['oid'];
  return { subject: subject.trim(), body: rest.join('\n').trim(), ...(revertOf ? { revertOf } : {}) };
}

/** Lines that start with a space go on with the header above (signatures do). */
function headersOf(text: string): Map<string, string[]> {
  const headers = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const space = line.indexOf(' ');
    if (space <= 0) continue;
    const name = line.slice(0, space);
    headers.set(name, [...(headers.get(name) ?? []), line.slice(space + 1)]);
  }
  return headers;
}

function personOf(lines: readonly string[] = []): { name: string; at: Date } {
  const { name, email, seconds } = PERSON.exec(lines[0] ?? '')?.groups ?? {};
  return { name: name || email || 'unknown', at: new Date(Number(seconds ?? 0) * 1000) };
}

export function parseTree(oid: string, { type, content }: RawObject): TreeEntry[] {
  if (type !== 'tree') throw corrupt(oid, `it is a ${type}, not a tree`);
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const entries: TreeEntry[] = [];
  let at = 0;
  while (at < bytes.length) {
    const space = bytes.indexOf(0x20, at);
    const zero = bytes.indexOf(0, space);
    const end = zero + 1 + oid.length / 2;
    if (space < 0 || zero < 0 || end > bytes.length) throw corrupt(oid, 'its entries are cut off');
    const mode = bytes.toString('latin1', at, space);
    const name = bytes.toString('utf8', space + 1, zero);
    if (!isSafeName(name)) throw corrupt(oid, `it holds the name ${JSON.stringify(name)}`);
    entries.push({ name, oid: bytes.toString('hex', zero + 1, end), type: typeOf(oid, mode) });
    at = end;
  }
  return entries;
}

/** A name that would leave its folder, or become a repository of its own, is never written to a disk. */
function isSafeName(name: string): boolean {
  return name !== '' && !/^\.{1,2}$|^\.git$|[/\\\0]|\ufffd/i.test(name);
}

function typeOf(oid: string, mode: string): TreeEntry['type'] {
  switch (mode) {
    case '40000':
      return 'folder';
    case '100644':
    case '100664':
      return 'file';
    case '100755':
      return 'executable';
    case '120000':
      return 'symlink';
    case '160000':
      return 'submodule';
    default:
      throw corrupt(oid, `it holds the mode ${JSON.stringify(mode)}`);
  }
}

/** The object that an annotated tag points to. */
export function tagTarget(oid: string, { content }: RawObject): string {
  const target = /^object (?<oid>[0-9a-f]+)$/m.exec(Buffer.from(content).toString('utf8'))?.groups?.['oid'];
  if (!target || !OID.test(target)) throw corrupt(oid, 'it is a tag that names no object');
  return target;
}

export function corrupt(oid: string, because: string): GitError {
  return new GitError('Corrupt', `object ${oid} cannot be read: ${because}`, {
    hint: 'the copy is thrown away and fetched again; if it stays, check the repository with git fsck',
  });
}
