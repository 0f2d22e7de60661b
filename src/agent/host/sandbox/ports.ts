/**
 * Ports of a sandbox: each declared port gets a free one, and keeps it. The agent holds a lock on each, because a port
 * stays free until a program listens on it, and two sandboxes that begin at once would choose the same.
 */
import { writeFileAtomic } from '../../../os/files.ts';
import { type Lock, tryAcquireLock } from '../../../os/lock.ts';
import { findNextPort } from '../../../os/net/ports.ts';
import { createParsedFile } from '../disk/parsed-file.ts';
import type { DeclaredPort, HostNetwork } from '../port.ts';

export interface SandboxPorts {
  readonly assign: HostNetwork['assignPorts'];
  release(): Promise<void>;
}

const LOCALHOST = '127.0.0.1';
/** Sandboxes on one machine begin in different places, so that they seldom meet. */
const FIRST_PORT = 20_000;
const PORT_RANGE = 10_000;

export function createSandboxPorts(file: string, seed: number): SandboxPorts {
  const read = createParsedFile(file, (text) => JSON.parse(text || '{}') as Readonly<Record<string, number>>);
  const locks = new Map<number, Lock>();

  return {
    async assign(component: string, ports: readonly DeclaredPort[]) {
      const known = new Map(Object.entries(await read()));
      await Promise.all([...known.values()].map((port) => claim(port)));
      const size = known.size;
      for (const { name } of ports) {
        const key = `${component}/${name}`;
        if (!known.has(key)) known.set(key, await claimNext(new Set(known.values())));
      }
      if (known.size > size) await writeFileAtomic(file, JSON.stringify(Object.fromEntries(known)));
      return new Map(ports.map(({ name, port }) => [name, known.get(`${component}/${name}`) ?? port]));
    },
    async release() {
      const held = [...locks.values()];
      locks.clear();
      await Promise.all(held.map((lock) => lock.release()));
    },
  };

  async function claimNext(taken: Set<number>): Promise<number> {
    for (;;) {
      const port = await findNextPort(taken, LOCALHOST, FIRST_PORT + (seed % PORT_RANGE));
      if (await claim(port)) return port;
      taken.add(port);
    }
  }

  async function claim(port: number): Promise<boolean> {
    if (locks.has(port)) return true;
    const lock = await tryAcquireLock(`sandbox port ${port}`);
    if (lock) locks.set(port, lock);
    return lock !== undefined;
  }
}
