/** Reads what is published of the authorities inside a hosted cluster. */
import type { SignedAuthorities } from '../../../api/authorities/document.ts';
import { CONFIG_AUTHORITIES } from '../../../api/names.ts';
import type { Client } from '../../../kube/client/client.ts';
import { unlessMissing } from '../../../kube/client/errors.ts';
import { CONFIG_MAPS } from '../../../kube/objects/core-kinds.ts';
import { textAt } from '../../../kube/objects/json.ts';

export async function readPublished(
  client: Pick<Client, 'get'>,
  signal: AbortSignal,
): Promise<SignedAuthorities | undefined> {
  const found = await unlessMissing(client.get(CONFIG_MAPS, CONFIG_AUTHORITIES, { signal }));
  const [document, signatures] = [textAt(found, 'data', 'document'), textAt(found, 'data', 'signatures')];
  return document === undefined || signatures === undefined ? undefined : { document, signatures };
}
