/** Computes what a file of a component contains when parts of it belong to others. Pure. */
import type { ComponentFile } from '../../api/generated/types.ts';
import { mergeBlock, unmergeBlock } from './merge-block.ts';
import { mergeIni, unmergeIni } from './merge-ini.ts';
import { mergeJson, unmergeJson } from './merge-json.ts';
import { encodingOf, splitMark } from './text.ts';

type MergedFile = Pick<ComponentFile, 'content' | 'merge'>;

interface FileMerger {
  readonly merge: (content: string, found: string) => string;
  readonly unmerge: (content: string, found: string, original: string) => string;
}

const MERGERS: Readonly<Record<ComponentFile['merge'], FileMerger>> = {
  Replace: { merge: (content) => content, unmerge: (_content, _found, original) => original },
  Block: { merge: mergeBlock, unmerge: (_content, found) => unmergeBlock(found) },
  Json: { merge: mergeJson, unmerge: unmergeJson },
  Ini: { merge: mergeIni, unmerge: unmergeIni },
};

/** Returns the content that the file should have, given what it has now. Merging the result again changes nothing. */
export function mergeFile({ merge, content }: MergedFile, found: string): string {
  if (merge === 'Replace') return content;
  const { mark, text } = splitMark(found);
  return mark + MERGERS[merge].merge(content, text);
}

/** Merges as mergeFile does, for what is on the disk: bytes of others that are not UTF-8 stay as they are. */
export function mergeBytes({ merge, content }: MergedFile, found: Uint8Array): Uint8Array {
  const encoding = encodingOf(found);
  const ours = Buffer.from(content).toString(encoding);
  return Buffer.from(mergeFile({ merge, content: ours }, Buffer.from(found).toString(encoding)), encoding);
}

/** Takes our part out again: `original` is what was there before us. What others changed since is kept. */
export function unmergeFile({ merge, content }: MergedFile, found: string, original: string): string {
  const { mark, text } = splitMark(found);
  return mark + MERGERS[merge].unmerge(content, text, splitMark(original).text);
}

/** Takes our part out as unmergeFile does, for what is on the disk. */
export function unmergeBytes(file: MergedFile, found: Uint8Array, original: Uint8Array): Uint8Array {
  const encoding = encodingOf(found);
  const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString(encoding);
  const ours = { ...file, content: text(Buffer.from(file.content)) };
  return Buffer.from(unmergeFile(ours, text(found), text(original)), encoding);
}
