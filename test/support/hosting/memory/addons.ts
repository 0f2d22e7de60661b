/** The add-ons of the control planes in memory. A digest stands for its manifests. */
import type { ClusterAddons, InstalledAddon } from '../../../../src/controllers/hosting/addons/report.ts';
import { HostingError } from '../../../../src/controllers/hosting/errors.ts';
import type { MemoryPlane } from './plane.ts';

/** `unreachable` are the URLs that do not answer. */
export function memoryAddons(
  planes: ReadonlyMap<string, MemoryPlane>,
  log: string[],
  unreachable: ReadonlySet<string>,
): ClusterAddons {
  const planeOf = (name: string): MemoryPlane => {
    const plane = planes.get(name);
    if (!plane?.running.has('kube-apiserver')) throw new Error('connection refused');
    return plane;
  };
  return {
    read: async ({ owner }) => {
      const { addons, hasNodes } = planeOf(owner.name);
      return { installed: [...addons.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1)), hasNodes };
    },
    apply: async ({ owner }, { name, url, sha256 }) => {
      const { addons } = planeOf(owner.name);
      if (unreachable.has(url)) {
        throw new HostingError('AddonNotFetched', `${url} could not be fetched: ECONNREFUSED`, {
          hint: 'wait',
        });
      }
      const installed: InstalledAddon = { name, begun: sha256, applied: sha256, drifted: [], unready: [] };
      addons.set(name, installed);
      log.push(`apply ${owner.name} ${name} ${sha256.slice(0, 2)}`);
    },
    remove: async ({ owner }, name) => {
      if (planeOf(owner.name).addons.delete(name)) log.push(`unapply ${owner.name} ${name}`);
    },
  };
}
