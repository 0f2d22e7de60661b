/** The TCP ports on which processes of this machine listen, as /proc shows them. */
import { readdir, readFile, readlink } from 'node:fs/promises';

const LISTEN = '0A';

interface ListeningSocket {
  readonly port: number;
  readonly inode: string;
}

/**
 * In order; none for a process that has ended, and for one of another user. The processes have the network of this one: its tables, which
 * have thousands of rows where many connections are made, are read once for all of them.
 */
export async function readListeningPorts(
  pids: Iterable<number>,
): Promise<ReadonlyMap<number, readonly number[]>> {
  const tables = ['tcp', 'tcp6'].map((name) => readFile(`/proc/self/net/${name}`, 'utf8').catch(() => ''));
  const sockets = (await Promise.all(tables)).flatMap(parseListening);
  const portsOf = async (pid: number): Promise<readonly [number, readonly number[]]> => {
    const inodes = await readSockets(`/proc/${pid}/fd`);
    const ports = sockets.filter(({ inode }) => inodes.has(inode)).map(({ port }) => port);
    return [pid, [...new Set(ports)].toSorted((a, b) => a - b)];
  };
  return new Map(await Promise.all(Array.from(pids, portsOf)));
}

/** Resolves to the inodes of the sockets that a process has open. */
async function readSockets(folder: string): Promise<ReadonlySet<string>> {
  const names = await readdir(folder).catch(() => []);
  const links = await Promise.all(names.map((name) => readlink(`${folder}/${name}`).catch(() => '')));
  return new Set(links.flatMap((link) => /^socket:\[(?<inode>\d+)\]$/.exec(link)?.groups?.['inode'] ?? []));
}

/** Returns the rows of sockets that listen. */
function parseListening(table: string): readonly ListeningSocket[] {
  // Most rows are of connections: they are not split into their fields.
  const rows = table.split('\n').filter((row) => row.includes(` ${LISTEN} `));
  return rows.flatMap((row) => {
    const [, local = '', , state, , , , , , inode = ''] = row.trim().split(/\s+/);
    return state === LISTEN ? [{ port: Number.parseInt(local.split(':').at(-1) ?? '', 16), inode }] : [];
  });
}
