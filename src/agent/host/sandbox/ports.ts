/** Ports of a sandbox: each declared port gets a free one, and keeps it. */
import { writeFileAtomic } from '../../../os/files.ts';
import { findNextPort } from '../../../os/ports.ts';
import { createParsedFile } from '../disk/parsed-file.ts';
import type { DeclaredPort, HostNetwork } from '../port.ts';

const LOCALHOST = '127.0.0.1';
/** Sandboxes on one machine begin in different places, so that they seldom meet. */
const FIRST_PORT = 20_000;
const PORT_RANGE = 10_000;

export function createSandboxPorts(file: string, seed: number): HostNetwork['assignPorts'] {
  const read = createParsedFile(file, (text) => JSON.parse(text || '{}') as Readonly<Record<string, number>>);
  return async (component: string, ports: readonly DeclaredPort[]) => {
    const known = new Map(Object.entries(await read()));
    const size = known.size;
    for (const { name } of ports) {
      const key = `${component}/${name}`;
      if (known.has(key)) continue;
      known.set(
        key,
        await findNextPort(new Set(known.values()), LOCALHOST, FIRST_PORT + (seed % PORT_RANGE)),
      );
    }
    if (known.size > size) await writeFileAtomic(file, JSON.stringify(Object.fromEntries(known)));
    return new Map(ports.map(({ name, port }) => [name, known.get(`${component}/${name}`) ?? port]));
  };
}
