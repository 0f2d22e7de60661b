/**
 * Reads what an earlier commit rendered for the cluster, only when a conflict asks for it: an inventory that listed every field
 * would be many times larger.
 */
import { digestOf } from '../../../kube/objects/digest.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { objectIdOf, objectKey } from '../../../kube/objects/object-id.ts';
import type { Log } from '../../../kube/process/log.ts';
import { isSopsEncrypted } from '../../../kube/sops/leaves.ts';
import { sentForm } from '../../../kube/sops/sent-form.ts';
import type { RenderedTarget } from '../../rendered.ts';
import { confirmedOf, type InventoryEntry } from '../inventory/inventory.ts';

/** Reads the manifest that the server confirmed last for the entry; undefined when its commit cannot be rendered any more. */
export type ReadApplied = (entry: InventoryEntry) => Promise<KubeObject | undefined>;

export function createAppliedReader(
  content: (commit: string) => Promise<RenderedTarget | undefined>,
  log: Log,
): ReadApplied {
  const renders = new Map<string, Promise<RenderedTarget | undefined>>();
  return async (entry) => {
    const confirmed = confirmedOf(entry);
    if (confirmed === undefined) return undefined;
    const { commit, applied } = confirmed;
    const rendered = renders.get(commit) ?? read(commit);
    renders.set(commit, rendered);
    const objects = (await rendered)?.units.flatMap((unit) => unit.objects) ?? [];
    const found = objects
      .map(({ object }) => object)
      .find((object) => objectKey(objectIdOf(object)) === objectKey(entry) && digestOf(object) === applied);
    // Its fields are asked for, not its values.
    return found && (isSopsEncrypted(found) ? sentForm(found) : found);
  };

  async function read(commit: string): Promise<RenderedTarget | undefined> {
    try {
      return await content(commit);
    } catch (error) {
      log.warn('earlier commit not rendered', { commit, error });
      return undefined;
    }
  }
}
