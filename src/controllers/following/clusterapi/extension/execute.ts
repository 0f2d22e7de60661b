/** Begins an update in place: the pin of one version, which the component set and the agent carry out. */
import { MACHINES } from '../../../../api/generated/resources.ts';
import { entryContent } from '../../../../api/machine/entry-content.ts';
import { MANAGER_CLUSTERAPI_UPDATE } from '../../../../api/names.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { isKubeError } from '../../../../kube/client/errors.ts';
import { optional } from '../../../../kube/objects/optional.ts';
import { ownPins } from './owner.ts';
import type { UpdateDecision } from './plan.ts';

/** Writes on the version of the Machine that was judged. Returns whether it still was the newest: one that changed is judged again. */
export async function pin(
  { machine, entry }: Extract<UpdateDecision, { type: 'Pin' }>,
  client: Pick<Client, 'apply'>,
): Promise<boolean> {
  const { apiVersion, kind, metadata } = machine;
  const { name, uid, resourceVersion } = metadata;
  const identity = { name, ...optional('uid', uid), ...optional('resourceVersion', resourceVersion) };
  const pins = ownPins(machine).filter((each) => each !== entry.name);
  const kept = machine.spec.components.filter((each) => pins.includes(each.name)).map(entryContent);
  const components = [...kept, entry];
  const object = { apiVersion, kind, metadata: identity, spec: { components } };
  try {
    await client.apply(MACHINES, object, { fieldManager: MANAGER_CLUSTERAPI_UPDATE, force: true });
    return true;
  } catch (error) {
    if (isKubeError(error, 'Conflict')) return false;
    throw error;
  }
}
