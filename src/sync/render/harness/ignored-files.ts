/** Warns about manifests that look as if they were applied, and are not. */
import { normalize } from 'node:path';
import type { RenderEntry } from './entry.ts';
import { destinationOf, filesBelow } from './plain.ts';

const MAX_FILES = 3;

export function ignoredFileWarnings(root: string, path: string, entry: RenderEntry): readonly string[] {
  if (entry.kind === 'none') return [];
  const folder = normalize(path);
  const below = (file: string): string => (folder === '.' ? file : file.slice(folder.length + 1));
  const files = filesBelow(root, folder);
  if (entry.kind === 'plain') {
    const loose = files.filter((file) => below(file).startsWith('clusters/') && !destinationOf(below(file)));
    return warningsOf(loose, 'it is in no folder of a cluster. Move it to clusters/NAME/');
  }
  const targeted = files.filter((file) => destinationOf(below(file)));
  const because = `${entry.file} is the fleet program, and only what it declares is applied`;
  return warningsOf(
    targeted,
    `${because}. Read it there with YamlFile of kubenode/constructs, from a folder other than hub and clusters`,
  );
}

function warningsOf(files: readonly string[], because: string): readonly string[] {
  const [first, ...others] = files.slice(0, MAX_FILES);
  if (first === undefined) return [];
  const more = files.length > MAX_FILES ? [`and ${files.length - MAX_FILES} more`] : [];
  const also = others.length > 0 ? ` (also ${[...others, ...more].join(', ')})` : '';
  return [`${first} is not applied${also}: ${because}`];
}
