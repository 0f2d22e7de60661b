/**
 * When an object may be deleted and made anew: only where the server says that a field is immutable, only where git
 * allows it for this very object, and never for a protected kind. Any other refusal is not a reason to delete. Pure.
 */
import { ANNOTATION_REPLACE, REPLACE_ALLOWED } from '../../api/names.ts';
import type { KubeError } from '../../kube/client/errors.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { type ObjectId } from '../../kube/objects/object-id.ts';
import { isProtected } from '../protected-kinds.ts';

export function canReplace(
  { object, id }: { readonly object: KubeObject; readonly id: ObjectId },
  error: KubeError,
): boolean {
  const allowed = object.metadata.annotations?.[ANNOTATION_REPLACE] === REPLACE_ALLOWED;
  return allowed && !isProtected(id) && isImmutableFieldError(error);
}

/**
 * The API names no machine-readable reason for it: built-in kinds say FieldValueInvalid or FieldValueForbidden with
 * these words, CRDs with transition rules say FieldValueInvalid with the words of their author, which do not count.
 */
const WORDS = [
  /field is immutable/,
  /updates to .* (?:are forbidden|for fields other than)/i,
  /may not change once set/,
  /is immutable (?:after|once)/,
];

export function isImmutableFieldError({ status, reason, causes }: KubeError): boolean {
  if (status !== 422 || reason !== 'Invalid' || causes.length === 0) return false;
  return causes.every(
    ({ reason: why, field, message = '' }) =>
      (why === 'FieldValueInvalid' || why === 'FieldValueForbidden') &&
      field !== undefined &&
      WORDS.some((words) => words.test(message)),
  );
}
