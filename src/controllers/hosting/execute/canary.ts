/** Proves that an API server works: an object is written, read, changed, observed by a watch, and deleted. */
import {
  LABEL_MANAGED_BY,
  MANAGED_BY,
  MANAGER_HOSTING,
  NAMESPACE,
  UPGRADE_CANARY,
} from '../../../api/names.ts';
import type { Client } from '../../../kube/client/client.ts';
import { unlessMissing } from '../../../kube/client/errors.ts';
import { CONFIG_MAPS } from '../../../kube/objects/core-kinds.ts';
import { textAt } from '../../../kube/objects/json.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';

const WATCH_SECONDS = 10;
const NAME = { name: UPGRADE_CANARY, namespace: NAMESPACE };

/** Rejects with what does not work. One that was left by an interrupted run is deleted first. */
export async function runCanary(client: Client, signal: AbortSignal): Promise<void> {
  await removeCanary(client, signal);
  const options = { fieldManager: MANAGER_HOSTING, force: true, signal };
  const written = await client.apply(CONFIG_MAPS, canary('first'), options);
  const read = await client.get(CONFIG_MAPS, NAME, { signal });
  if (read.metadata.uid !== written.metadata.uid) {
    throw new Error(`${UPGRADE_CANARY} was read as another object`);
  }
  await client.apply(CONFIG_MAPS, canary('second'), options);
  await seeChange(client, read, signal);
  await removeCanary(client, signal);
}

function canary(value: string): KubeObject {
  const labels = { [LABEL_MANAGED_BY]: MANAGED_BY };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...NAME, labels }, data: { value } };
}

async function seeChange(client: Client, { metadata }: KubeObject, signal: AbortSignal): Promise<void> {
  const { resourceVersion = '' } = metadata;
  const options = { namespace: NAMESPACE, resourceVersion, timeoutSeconds: WATCH_SECONDS, signal };
  const watch = client.watch(CONFIG_MAPS, options);
  for await (const { type, object } of watch) {
    const isObserved =
      object.metadata.name === UPGRADE_CANARY && textAt(object, 'data', 'value') === 'second';
    if (type === 'MODIFIED' && isObserved) return;
  }
  throw new Error(`a watch ended without the change of ${UPGRADE_CANARY}`);
}

async function removeCanary(client: Client, signal: AbortSignal): Promise<void> {
  const found = await unlessMissing(client.get(CONFIG_MAPS, NAME, { signal }));
  if (!found) return;
  if (found.metadata.labels?.[LABEL_MANAGED_BY] !== MANAGED_BY) {
    throw new Error(`ConfigMap ${NAMESPACE}/${UPGRADE_CANARY} was made by others: delete it`);
  }
  await unlessMissing(client.delete(CONFIG_MAPS, NAME, { uid: found.metadata.uid ?? '', signal }));
}
