/** Parses git's raw format of commits, trees and tags. */
import { GitError, REWRITE_HINT } from '../errors.ts';
import type { CommitInfo, RawObject, TreeFile } from '../transport.ts';

export const OID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const REVERT = /^This reverts commit (?<oid>[0-9a-f]{40}(?:[0-9a-f]{24})?)\b/m;
const PERSON = /^(?<name>.*?) ?<(?<email>[^>]*)> (?<seconds>-?\d+) [+-]\d{4}$/;

export interface TreeEntry {
  readonly name: string;
  /** As git writes it: `100644`. */
  readonly mode: string;
  readonly oid: string;
  readonly type: TreeFile['type'] | 'folder';
}

export function parseCommit(oid: string, { type, content }: RawObject): CommitInfo {
  if (type !== 'commit') throw corruptObject(oid, `expected a commit, got a ${type}`);
  const [head = '', ...paragraphs] = Buffer.from(content).toString('utf8').split('\n\n');
  const headers = headersOf(head);
  const [tree = ''] = headers.get('tree') ?? [];
  if (!OID.test(tree)) throw corruptObject(oid, 'it has no tree');
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

/** Skips lines that start with a space: they continue the header above, as signatures do. */
function headersOf(text: string): Map<string, string[]> {
  const headers = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const space = line.indexOf(' ');
    if (space <= 0) continue;
    const name = line.slice(0, space);
    const values = headers.get(name) ?? [];
    values.push(line.slice(space + 1));
    headers.set(name, values);
  }
  return headers;
}

function personOf(lines: readonly string[] = []): { name: string; at: Date } {
  const { name, email, seconds } = PERSON.exec(lines[0] ?? '')?.groups ?? {};
  return { name: name || email || 'unknown', at: timeOf(Number(seconds ?? 0)) };
}

/** 0000-01-01 and 9999-12-31: a commit may have any number, and RFC 3339 has years of four digits. */
const [MIN_SECONDS, MAX_SECONDS] = [-62_167_219_200, 253_402_300_799];

function timeOf(seconds: number): Date {
  return new Date(Math.min(Math.max(seconds, MIN_SECONDS), MAX_SECONDS) * 1000);
}

export function parseTree(oid: string, { type, content }: RawObject): TreeEntry[] {
  if (type !== 'tree') throw corruptObject(oid, `expected a tree, got a ${type}`);
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const entries: TreeEntry[] = [];
  const names = new Set<string>();
  let start = 0;
  while (start < bytes.length) {
    const space = bytes.indexOf(0x20, start);
    const zero = bytes.indexOf(0, space);
    const end = zero + 1 + oid.length / 2;
    if (space < 0 || zero < 0 || end > bytes.length) throw corruptObject(oid, 'its entries are truncated');
    const mode = bytes.toString('latin1', start, space);
    const name = bytes.toString('utf8', space + 1, zero);
    if (!isSafeName(name)) throw invalidObject(oid, `the unsafe name ${JSON.stringify(name)}`);
    // Two readers of the tree could take a different one each.
    if (names.has(name)) throw invalidObject(oid, `the name ${JSON.stringify(name)} twice`);
    names.add(name);
    entries.push({ name, mode, oid: bytes.toString('hex', zero + 1, end), type: typeOf(oid, mode) });
    start = end;
  }
  return entries;
}

/** False for a name that could escape its folder or form a git repository: it is never written to disk. */
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
      throw invalidObject(oid, `the unknown mode ${JSON.stringify(mode)}`);
  }
}

/** The object that an annotated tag points to. */
export function tagTarget(oid: string, { content }: RawObject): string {
  const target = /^object (?<oid>[0-9a-f]+)$/m.exec(Buffer.from(content).toString('utf8'))?.groups?.['oid'];
  if (!target || !OID.test(target)) throw corruptObject(oid, 'the tag names no object');
  return target;
}

function invalidObject(oid: string, contained: string): GitError {
  return new GitError('InvalidObject', `the commit is refused: its tree ${oid} contains ${contained}`, {
    hint: REWRITE_HINT,
  });
}

function corruptObject(oid: string, because: string): GitError {
  return new GitError('Corrupt', `object ${oid} cannot be read: ${because}`, {
    hint: 'no action required: the local copy is deleted and fetched again. If this persists, run git fsck on the repository',
  });
}
