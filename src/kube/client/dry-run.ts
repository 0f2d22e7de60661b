/** What an apply would do, as the server itself says: with its defaults, its admission and its field owners. */

import { type Difference, diffObjects, formatDifferences } from '../objects/diff.ts';
import type { KubeObject, Resource } from '../objects/object.ts';
import { redactSecret } from '../objects/redact-secret.ts';
import type { ApplyOptions, Client } from './client.ts';
import { isKubeError } from './errors.ts';
import { labelOf, nameOf } from './paths.ts';

export interface DryRun {
  readonly action: 'create' | 'update' | 'nothing';
  readonly kind: string;
  readonly object: string;
  /** Empty for a creation: then everything is new. */
  readonly differences: readonly Difference[];
  /** What would be there, fit to be shown. */
  readonly result: KubeObject;
  /** What is there now, fit to be shown; undefined before a creation. */
  readonly live: KubeObject | undefined;
}

/** Rejects as the apply itself would: a conflict, a refusal by a policy, an unknown field. */
export async function dryRunApply(
  client: Pick<Client, 'get' | 'apply'>,
  resource: Resource,
  object: KubeObject,
  options: ApplyOptions,
): Promise<DryRun> {
  const live = await liveOf(client, resource, object, options);
  const result = await client.apply(resource, object, { ...options, dryRun: true });
  const found = live ? diffObjects(live, result) : [];
  return {
    action: actionOf(live, found),
    kind: object.kind,
    object: labelOf(resource, nameOf(object)),
    differences: found,
    result: redactSecret(result),
    live: live && redactSecret(live),
  };
}

/** Only the server's own "not found" means that it is not there; any other failure is one. */
async function liveOf(
  client: Pick<Client, 'get'>,
  resource: Resource,
  object: KubeObject,
  { signal }: ApplyOptions,
): Promise<KubeObject | undefined> {
  try {
    return await client.get(resource, nameOf(object), signal ? { signal } : {});
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return undefined;
    throw error;
  }
}

function actionOf(live: KubeObject | undefined, found: readonly Difference[]): DryRun['action'] {
  if (!live) return 'create';
  return found.length > 0 ? 'update' : 'nothing';
}

/** `update ConfigMap default/a`, and a line for each difference. */
export function formatDryRun({ action, object, differences: found }: DryRun): string {
  const verb = action === 'nothing' ? 'no change to' : action;
  return [`${verb} ${object}`, ...formatDifferences(found).map((line) => `  ${line}`)].join('\n');
}
