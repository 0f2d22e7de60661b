/** Owners of files: applied on a real node, recorded in a sandbox, where this user owns everything. */
import type { BigIntStats } from 'node:fs';
import { chown, readFile } from 'node:fs/promises';
import { readFileIfExists, writeFileAtomic } from '../../../os/files.ts';
import { HostError } from '../errors.ts';
import type { HostRoot } from './root.ts';

export interface FileOwners {
  /** As user:group. */
  read(path: string, stats: BigIntStats): Promise<string>;
  /** In numbers, where owners are applied. */
  readIds?(stats: BigIntStats): string;
  /** `diskPath` may be a temporary file that gets the name `path` afterwards. */
  apply(path: string, diskPath: string, owner: string): Promise<void>;
}

const ROOT_OWNER = 'root:root';

/** `file` maps paths to owners other than root:root. */
export function createRecordedOwners(file: string): FileOwners {
  async function recorded(): Promise<Readonly<Record<string, string>>> {
    const text = await readFileIfExists(file);
    return text === undefined ? {} : (JSON.parse(text) as Record<string, string>);
  }
  return {
    read: async (path) => (await recorded())[path] ?? ROOT_OWNER,
    async apply(path, _diskPath, owner) {
      const before = await recorded();
      if ((before[path] ?? ROOT_OWNER) === owner) return;
      const { [path]: _old, ...others } = before;
      const next = owner === ROOT_OWNER ? others : { ...others, [path]: owner };
      await writeFileAtomic(file, JSON.stringify(next));
    },
  };
}

/** By the names in /etc/passwd and /etc/group of the host. */
export function createAccountOwners({ toDisk }: Pick<HostRoot, 'toDisk'>): FileOwners {
  const readAll = (): Promise<readonly Accounts[]> =>
    Promise.all(['/etc/passwd', '/etc/group'].map((file) => readAccounts(toDisk(file))));
  return {
    async read(_path, { uid, gid }) {
      const [users, groups] = await readAll();
      return `${nameOf(users, uid)}:${nameOf(groups, gid)}`;
    },
    readIds: ({ uid, gid }) => `${uid}:${gid}`,
    async apply(path, diskPath, owner) {
      const [user = '', group = ''] = owner.split(':');
      const [users, groups] = await readAll();
      await chown(diskPath, idOf(users, user, path), idOf(groups, group, path));
    },
  };
}

type Accounts = readonly { readonly name: string; readonly id: number }[];

function nameOf(accounts: Accounts | undefined, id: bigint): string {
  return accounts?.find((each) => each.id === Number(id))?.name ?? String(id);
}

async function readAccounts(file: string): Promise<Accounts> {
  const lines = (await readFile(file, 'utf8')).split('\n');
  return lines.map((line) => {
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
