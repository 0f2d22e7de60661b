/** What a file of a component contains when parts of it belong to others. Pure. */
import type { ComponentFile } from '../../api/generated/types.ts';
import { mergeBlock, unmergeBlock } from './merge-block.ts';
import { mergeIni, unmergeIni } from './merge-ini.ts';
import { mergeJson, unmergeJson } from './merge-json.ts';

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

/** The content that the file should have, given what it has now. Merging the result again changes nothing. */
export function mergeFile({ merge, content }: MergedFile, found: string): string {
  return MERGERS[merge].merge(content, found);
}

/** Takes our part out again: `original` is what was there before us. What others changed since is kept. */
export function unmergeFile({ merge, content }: MergedFile, found: string, original: string): string {
  return MERGERS[merge].unmerge(content, found, original);
}
