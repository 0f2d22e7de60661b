/** Our kinds that sync reads and writes in the hub. */
import { GROUP } from '../../api/names.ts';
import { VERSION } from '../../api/version.ts';
import type { Resource } from '../../kube/objects/object.ts';

function ours(kind: string): Resource {
  return { group: GROUP, version: VERSION, kind, plural: `${kind.toLowerCase()}s`, namespaced: false };
}

export const CLUSTERS = ours('Cluster');
export const PIPELINES = ours('Pipeline');
export const RELEASES = ours('Release');
