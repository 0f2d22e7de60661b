/** Computes what a server-side apply would change, including defaults, admission and field ownership. */
import { type Difference, diffObjects, formatDifferences } from '../objects/diff.ts';
import type { KubeObject, Resource } from '../objects/object.ts';
import { redactSecret } from '../objects/redact-secret.ts';
import type { ApplyOptions, Client } from './client.ts';
import { unlessMissing } from './errors.ts';
import { labelOf, nameOf } from './paths.ts';

export interface DryRun {
  readonly action: 'create' | 'update' | 'nothing';
  readonly kind: string;
  readonly object: string;
  /** The differences between the current object and the result, empty for a creation. */
  readonly differences: readonly Difference[];
  /** The object after the apply, redacted. */
  readonly result: KubeObject;
  /** The current object, redacted; undefined before a creation. */
  readonly live: KubeObject | undefined;
}

/** Returns what the apply would change. Rejects like the apply itself: for a conflict, a denial by a policy or an unknown field. */
export async function dryRunApply(
  client: Pick<Client, 'get' | 'apply'>,
  resource: Resource,
  object: KubeObject,
  options: ApplyOptions,
): Promise<DryRun> {
  const live = await readLive(client, resource, object, options);
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

/** Reads the current object. Only a NotFound of the server itself means that the object does not exist. */
async function readLive(
  client: Pick<Client, 'get'>,
  resource: Resource,
  object: KubeObject,
  { signal }: ApplyOptions,
): Promise<KubeObject | undefined> {
  return await unlessMissing(client.get(resource, nameOf(object), signal ? { signal } : {}));
}

function actionOf(live: KubeObject | undefined, found: readonly Difference[]): DryRun['action'] {
  if (!live) return 'create';
  return found.length > 0 ? 'update' : 'nothing';
}

/** Formats a dry run: `update ConfigMap default/a`, followed by a line for each difference. */
export function formatDryRun({ action, object, differences: found }: DryRun): string {
  const verb = action === 'nothing' ? 'no change to' : action;
  return [`${verb} ${object}`, ...formatDifferences(found).map((line) => `  ${line}`)].join('\n');
}
