/**
 * An object may be deleted and recreated only if the server reports an immutable field, git allows it for this object, and
 * its kind is not protected. No other error is a reason to delete. Pure.
 */
import { ANNOTATION_REPLACE, REPLACE_ALLOWED } from '../../../api/names.ts';
import type { KubeError } from '../../../kube/client/errors.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { type ObjectId } from '../../../kube/objects/object-id.ts';
import { isProtected } from '../../protected-kinds.ts';

export function canReplace(
  { object, id }: { readonly object: KubeObject; readonly id: ObjectId },
  error: KubeError,
): boolean {
  const allowed = object.metadata.annotations?.[ANNOTATION_REPLACE] === REPLACE_ALLOWED;
  return allowed && !isProtected(id) && isImmutableFieldError(error);
}

/**
 * The API has no machine-readable reason for an immutable field. Built-in kinds answer FieldValueInvalid or
 * FieldValueForbidden with these messages. Transition rules of CRDs answer with messages of their authors: not recognized.
 */
const MESSAGES = [
  /field is immutable/,
  /updates to .* (?:are forbidden|for fields other than)/i,
  /may not change once set/,
  /is immutable (?:after|once)/,
];

function isImmutableFieldError({ status, reason, causes }: KubeError): boolean {
  if (status !== 422 || reason !== 'Invalid' || causes.length === 0) return false;
  return causes.every(
    ({ reason: why, field, message = '' }) =>
      // Of a write that was meant for another object of this name.
      field !== 'metadata.uid' &&
      (why === 'FieldValueInvalid' || why === 'FieldValueForbidden') &&
      field !== undefined &&
      MESSAGES.some((pattern) => pattern.test(message)),
  );
}
