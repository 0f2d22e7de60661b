/** Derives what an update asks of one machine: the difference between what it has and what Cluster API desires. Pure. */

import type { BootstrapFiles } from './kubeadm-files.ts';
import { type BootstrapRecord, changedPaths, fileDigests } from './record.ts';

/** The versions of components follow from it. */
export interface UpdateOrder {
  /** Undefined: the version does not change. */
  readonly version: string | undefined;
  /** The paths of the files that change, in order. */
  readonly paths: readonly string[];
}

export interface DesiredBootstrap {
  readonly version: string | undefined;
  readonly files: BootstrapFiles;
}

export function orderAfter(before: BootstrapRecord, { version, files }: DesiredBootstrap): UpdateOrder {
  return {
    version: version === before.version ? undefined : version,
    paths: changedPaths(before, fileDigests(files)),
  };
}

/** Returns what any of both asks for. */
export function joinOrders(a: UpdateOrder, b: UpdateOrder): UpdateOrder {
  return { version: a.version ?? b.version, paths: [...new Set([...a.paths, ...b.paths])].toSorted() };
}

export function asksForNothing({ version, paths }: UpdateOrder): boolean {
  return version === undefined && paths.length === 0;
}
