/** Removes what an installation with `--update-extension` added, after one without it. */
import type { InstalledObject } from '../../../api/install/install.ts';
import { resourceOf } from '../../../api/install/objects.ts';
import { planPrune } from '../../../api/install/prune.ts';
import { extensionConfig, extensionSecret, extensionService } from '../../../deploy/update-extension.ts';
import type { Client } from '../../../kube/client/client.ts';
import { isKubeError, unlessMissing } from '../../../kube/client/errors.ts';
import { nameOf } from '../../../kube/client/paths.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { describeError } from '../../errors.ts';
import type { Io } from '../../io.ts';
import { printWarnings } from '../../output.ts';

const CONFIG = extensionConfig('Wait');
const SECRET = extensionSecret();
const SERVICE = extensionService();
const KINDS = [CONFIG, SECRET, SERVICE].map(resourceOf);

export interface RemoveExtensionOptions {
  readonly dryRun: boolean;
  /** The objects of this installation. */
  readonly installed: readonly InstalledObject[];
}

/** Cluster API learns of it first. A user without the rights gets a warning, because everything else is installed. */
export async function removeExtension(
  io: Io,
  client: Pick<Client, 'get' | 'delete' | 'resourceFor'>,
  { dryRun, installed }: RemoveExtensionOptions,
): Promise<readonly InstalledObject[]> {
  if (installed.some(({ outcome }) => outcome === 'failed')) return [];
  const declared = installed.map(({ object }) => object);
  if (declared.some(({ kind }) => kind === CONFIG.kind)) return [];
  try {
    const plan = planPrune(await readExtension(client, io.signal), declared, KINDS);
    const removed: InstalledObject[] = [];
    for (const { act, object } of plan) {
      if (act === 'delete') removed.push(await remove(client, object, { dryRun, signal: io.signal }));
    }
    return removed;
  } catch (error) {
    if (!isKubeError(error, 'Forbidden')) throw error;
    printWarnings(io, [
      `the update extension of Cluster API was not removed: ${describeError(error).text}. ` +
        'Grant the rights of the guide docs/guides/install.md, and install again',
    ]);
    return [];
  }
}

/** In the order of removal. The Secret is read only beside one of the others: most users have no right to read it. */
async function readExtension(
  client: Pick<Client, 'get' | 'resourceFor'>,
  signal: AbortSignal,
): Promise<readonly KubeObject[]> {
  const config = (await isServed(client)) ? await read(CONFIG) : undefined;
  const service = await read(SERVICE);
  if (!config && !service) return [];
  return [config, await read(SECRET), service].filter((each) => each !== undefined);

  async function read(object: KubeObject): Promise<KubeObject | undefined> {
    return await unlessMissing(client.get(resourceOf(object), nameOf(object), { signal }));
  }
}

async function isServed(client: Pick<Client, 'resourceFor'>): Promise<boolean> {
  try {
    await client.resourceFor(CONFIG.apiVersion, CONFIG.kind);
    return true;
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return false;
    throw error;
  }
}

/** Only the object that was judged: a change in between is a conflict. */
async function remove(
  client: Pick<Client, 'delete'>,
  object: KubeObject,
  options: { readonly dryRun: boolean; readonly signal: AbortSignal },
): Promise<InstalledObject> {
  const { uid = '', resourceVersion = '' } = object.metadata;
  try {
    await client.delete(resourceOf(object), nameOf(object), { uid, resourceVersion, ...options });
  } catch (error) {
    if (!isKubeError(error, 'NotFound')) {
      return { object, outcome: 'failed', error: error instanceof Error ? error : new Error(String(error)) };
    }
  }
  return { object, outcome: 'deleted' };
}
