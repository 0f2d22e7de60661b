/** A host in memory whose downloads always succeed: artifacts are not fetched, and have the checksum that is expected of them. */
import type { Clock } from '../../os/clock.ts';
import { createMemoryHost } from '../host/memory/host.ts';
import type { Host, HostFiles } from '../host/port.ts';
import { CACHE_DIRECTORY } from '../layout.ts';

/** Archives are empty: a component that links a file of its archive cannot be simulated. */
export function createSimulatedHost(clock: Clock): Host {
  const host = createMemoryHost({ clock, artifacts: new Map(), unpack: () => new Map() });
  const { files } = host;
  const attributes = { mode: '0600', owner: 'root:root' };
  return {
    ...host,
    files: withDigest(files, async (path) => cachedSha256(path) ?? (await files.digest(path))),
    network: {
      ...host.network,
      download: async (url, to) => await files.write(to, new TextEncoder().encode(url), attributes),
    },
  };
}

/** An artifact in the cache is named by its checksum. */
function cachedSha256(path: string): string | undefined {
  if (!path.startsWith(`${CACHE_DIRECTORY}/`)) return undefined;
  return path.slice(CACHE_DIRECTORY.length + 1).replace(/\.(?:part|loading)$/, '');
}

function withDigest(files: HostFiles, digest: HostFiles['digest']): HostFiles {
  return new Proxy(files, {
    get(target, name): unknown {
      if (name === 'digest') return digest;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
