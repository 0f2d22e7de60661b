/** Reads the signers of a Pipeline as the files of one commit list them. */
import { parseTree } from '../http/objects.ts';
import type { ObjectReader, SignerSet } from '../transport.ts';
import { readRequired } from '../tree.ts';
import { readSignerFile, type SignerFile } from './signer-file.ts';

export interface SetFile {
  readonly set: SignerSet;
  /** Absent: the commit has no such file. */
  readonly file?: SignerFile;
}

export interface SignerSets {
  /** Reads the file of each set in a tree, in the order of the sets. */
  inTree(tree: string): Promise<readonly SetFile[]>;
}

/** Each content is read once: the two ends of a range mostly have the same files. */
export function createSignerSets(reader: ObjectReader, sets: readonly SignerSet[]): SignerSets {
  const files = new Map<string, SignerFile>();
  return {
    async inTree(tree) {
      const found: SetFile[] = [];
      for (const set of sets) {
        const blob = await findFile(reader, tree, set.keysPath);
        found.push(blob === undefined ? { set } : { set, file: await readOnce(blob) });
      }
      return found;
    },
  };

  async function readOnce(oid: string): Promise<SignerFile> {
    const file = files.get(oid) ?? (await readSignerFile((await readRequired(reader, oid)).content));
    files.set(oid, file);
    return file;
  }
}

/** Returns the blob of a regular file. A link is not followed: it could lead to a file that other signers may change. */
async function findFile(reader: ObjectReader, tree: string, path: string): Promise<string | undefined> {
  let folder = tree;
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  for (const [index, part] of parts.entries()) {
    const entry = parseTree(folder, await readRequired(reader, folder)).find(({ name }) => name === part);
    if (index === parts.length - 1) return entry?.type === 'file' ? entry.oid : undefined;
    if (entry?.type !== 'folder') return undefined;
    folder = entry.oid;
  }
  return undefined;
}
