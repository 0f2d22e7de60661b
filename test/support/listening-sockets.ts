/** The TCP ports on which processes of this machine listen, as the kernel lists them. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export interface ListeningSocket {
  readonly pid: number;
  /** `0100007F` is 127.0.0.1: hexadecimal, in the order of the machine. */
  readonly address: string;
  readonly port: number;
}

const LISTEN = '0A';
/** 127.0.0.0/8, ::1, and 127.0.0.0/8 as addresses of IPv6. */
const LOOPBACK = /^(.{6}7F|0{24}01000000|0{16}FFFF0000.{6}7F)$/;

export function listeningSockets(pids: readonly number[]): readonly ListeningSocket[] {
  const sockets = [...socketsIn('/proc/net/tcp'), ...socketsIn('/proc/net/tcp6')];
  return pids.flatMap((pid) => {
    const inodes = inodesOf(pid);
    return sockets
      .filter(({ inode }) => inodes.has(inode))
      .map(({ address, port }) => ({ pid, address, port }));
  });
}

export function isOnLoopback({ address }: ListeningSocket): boolean {
  return LOOPBACK.test(address);
}

function socketsIn(file: string) {
  const [, ...lines] = readFileSync(file, 'utf8').trim().split('\n');
  return lines.flatMap((line) => {
    const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
    const [address = '', port = ''] = local.split(':');
    return state === LISTEN ? [{ address, port: Number.parseInt(port, 16), inode }] : [];
  });
}

function inodesOf(pid: number): ReadonlySet<string> {
  const folder = `/proc/${pid}/fd`;
  const links = readdirSync(folder).flatMap((fd) => {
    try {
      return [readlinkSync(`${folder}/${fd}`)];
    } catch {
      // It was closed meanwhile.
      return [];
    }
  });
  return new Set(links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []));
}
