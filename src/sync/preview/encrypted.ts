/** Describes the change of an encrypted object without its values: a preview has no keys. Pure. */
import { type Difference, diffObjects, formatDifferences } from '../../kube/objects/diff.ts';
import { listAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { objectIdOf, objectKey } from '../../kube/objects/object-id.ts';
import { optional } from '../../kube/objects/optional.ts';
import { MASK } from '../../kube/objects/redact-secret.ts';
import { isSopsEncrypted } from '../../kube/sops/leaves.ts';
import { isEncryptedValue } from '../../kube/sops/values.ts';
import type { RenderedTarget } from '../rendered.ts';

/**
 * Returns the plain fields that change, and the names of the encrypted ones. Each encryption gives other text, so an encrypted field may
 * have the same value as before. Empty for an object that is not encrypted, and without a change.
 */
export function encryptedLines(before: KubeObject | undefined, after: KubeObject): string[] {
  if (!isSopsEncrypted(after)) return [];
  const found = before ? diffObjects(before, after) : [];
  if (before && found.length === 0) return [];
  const shown = found
    .filter(({ path }) => !/^sops(\W|$)/.test(path))
    .map((each) => (isEncryptedValue(each.before) || isEncryptedValue(each.after) ? masked(each) : each));
  const recipients = listAt(after['sops'], 'age').length;
  const keys = `encrypted to ${recipients} ${recipients === 1 ? 'key' : 'keys'}`;
  const isSame = before !== undefined && shown.length === 0;
  return [...formatDifferences(shown), isSame ? `${keys}: only the encryption changed` : keys];
}

/** Returns the keys of the objects that the content of a cluster encrypts. */
export function encryptedKeys(target: RenderedTarget | undefined): ReadonlySet<string> {
  const objects = target?.units.flatMap((unit) => unit.objects.map(({ object }) => object)) ?? [];
  return new Set(objects.filter(isSopsEncrypted).map((object) => objectKey(objectIdOf(object))));
}

/**
 * Counts the differences to an object in the cluster that the commit before encrypts: the cluster has the values, and a path may contain
 * one as the key of a list.
 */
export function decryptedLines({ length }: readonly Difference[]): string[] {
  if (length === 0) return [];
  const count = length === 1 ? '1 field changes' : `${length} fields change`;
  return [`${count}, not shown: the commit before encrypts the object`];
}

/** Masks both sides: a value that was plain before, and is secret now, is not shown again. */
function masked({ path, change, before, after }: Difference): Difference {
  return { path, change, ...optional('before', maskOf(before)), ...optional('after', maskOf(after)) };
}

function maskOf(value: unknown): string | undefined {
  return value === undefined ? undefined : MASK;
}
