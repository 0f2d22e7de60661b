/** Owners of files: applied on a real node, recorded in a sandbox, where this user owns everything. */
import type { BigIntStats } from 'node:fs';
import { writeFileAtomic } from '../../../os/files.ts';
import { HostError } from '../errors.ts';
import { createParsedFile } from './parsed-file.ts';
import type { HostRoot } from './root.ts';

export interface FileOwners {
  /** Returns the owner as user:group. */
  read(path: string, stats: BigIntStats): Promise<string>;
  /** Returns the owner in numbers, where owners are applied. */
  readIds?(stats: BigIntStats): string;
  /** `file` may be a temporary file that gets the name `path` afterwards. */
  apply(path: string, file: OwnedFile, owner: string): Promise<void>;
}

export interface OwnedFile {
  chown(uid: number, gid: number): Promise<void>;
}

const ROOT_OWNER = 'root:root';

/** `file` maps paths to owners other than root:root. */
export function createRecordedOwners(file: string): FileOwners {
  const recorded = createParsedFile(
    file,
    (text) => JSON.parse(text || '{}') as Readonly<Record<string, string>>,
  );
  return {
    read: async (path) => (await recorded())[path] ?? ROOT_OWNER,
    async apply(path, _file, owner) {
      const before = await recorded();
      if ((before[path] ?? ROOT_OWNER) === owner) return;
      const { [path]: _old, ...others } = before;
      const next = owner === ROOT_OWNER ? others : { ...others, [path]: owner };
      await writeFileAtomic(file, JSON.stringify(next));
    },
  };
}

/** Translates owners by the names in /etc/passwd and /etc/group of the host. */
export function createAccountOwners({ toDisk }: Pick<HostRoot, 'toDisk'>): FileOwners {
  const files = ['/etc/passwd', '/etc/group'].map((file) => createParsedFile(toDisk(file), parseAccounts));
  const readAll = (): Promise<readonly Accounts[]> => Promise.all(files.map((read) => read()));
  return {
    async read(_path, { uid, gid }) {
      const [users, groups] = await readAll();
      return `${nameOf(users, uid)}:${nameOf(groups, gid)}`;
    },
    readIds: ({ uid, gid }) => `${uid}:${gid}`,
    async apply(path, file, owner) {
      const [user = '', group = ''] = owner.split(':');
      const [users, groups] = await readAll();
      await file.chown(idOf(users, user, path), idOf(groups, group, path));
    },
  };
}

type Accounts = readonly { readonly name: string; readonly id: number }[];

function nameOf(accounts: Accounts | undefined, id: bigint): string {
  return accounts?.find((each) => each.id === Number(id))?.name ?? String(id);
}

function parseAccounts(text: string): Accounts {
  return text.split('\n').map((line) => {
    const [name = '', , id] = line.split(':');
    return { name, id: Number(id) };
  });
}

function idOf(accounts: Accounts | undefined, name: string, path: string): number {
  const id = accounts?.find((each) => each.name === name)?.id ?? Number(name || Number.NaN);
  if (Number.isInteger(id)) return id;
  throw new HostError('NoAccess', `${path} cannot belong to ${name}: the host has no such account`, {
    where: path,
    hint: 'create the account, or correct owner in the MachineComponent',
  });
}
