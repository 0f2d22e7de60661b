/** Defines what is read of the add-ons of a hosted cluster, and the port that changes them. */
import type { HostedAddon } from '../../../api/generated/types.ts';
import type { PlaneOwner } from '../drivers/driver.ts';

/** An object that is not as it should be: `Deployment kube-system/coredns`, and why. */
export interface AddonObject {
  readonly object: string;
  readonly because: string;
}

export interface InstalledAddon {
  readonly name: string;
  /** The digest of the manifests that were last begun to be applied. */
  readonly begun: string;
  /** The digest of the manifests of which every object was applied. Undefined: the first apply was interrupted. */
  readonly applied?: string | undefined;
  /** The objects that are missing or differ from the manifests. */
  readonly drifted: readonly AddonObject[];
  /** The objects that do not serve yet. */
  readonly unready: readonly AddonObject[];
  /** Why its objects could not be compared: its manifests are not in memory, and cannot be fetched. */
  readonly problem?: string | undefined;
}

export interface AddonsReport {
  /** Sorted by name. */
  readonly installed: readonly InstalledAddon[];
  readonly hasNodes: boolean;
}

/** A hosted cluster whose add-ons are read or changed. */
export interface AddonTarget {
  readonly owner: PlaneOwner;
  /** The kubeconfig of its administrator. */
  readonly kubeconfig: string;
  readonly declared: readonly HostedAddon[];
  readonly signal: AbortSignal;
}

export interface ClusterAddons {
  /** Rejects when the API server does not answer. */
  read(target: AddonTarget): Promise<AddonsReport>;
  /** Applies every object of the manifests, and deletes what the former manifests had. It can be repeated at any time. */
  apply(target: AddonTarget, addon: HostedAddon): Promise<void>;
  /** Deletes the objects of an add-on. Rejects while some are being deleted. */
  remove(target: AddonTarget, name: string): Promise<void>;
}
