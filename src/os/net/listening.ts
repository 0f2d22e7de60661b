/** The TCP ports on which a process of this machine listens, as /proc shows them. */
import { readdir, readFile, readlink } from 'node:fs/promises';

const LISTEN = '0A';

/** Empty for a process that has ended, and for one of another user. In order. */
export async function readListeningPorts(pid: number, proc = '/proc'): Promise<readonly number[]> {
  const folder = `${proc}/${pid}/fd`;
  const names = await readdir(folder).catch(() => []);
  const links = await Promise.all(names.map((name) => readlink(`${folder}/${name}`).catch(() => '')));
  const inodes = new Set(
    links.flatMap((link) => /^socket:\[(?<inode>\d+)\]$/.exec(link)?.groups?.['inode'] ?? []),
  );
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map((name) => readFile(`${proc}/${pid}/net/${name}`, 'utf8').catch(() => '')),
  );
  const ports = tables.flatMap(parseListening).filter(({ inode }) => inodes.has(inode));
  return [...new Set(ports.map(({ port }) => port))].toSorted((a, b) => a - b);
}

/** Returns the rows of sockets that listen. */
export function parseListening(table: string): readonly { readonly port: number; readonly inode: string }[] {
  return table.split('\n').flatMap((line) => {
    const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
    return state === LISTEN ? [{ port: Number.parseInt(local.split(':').at(-1) ?? '', 16), inode }] : [];
  });
}
