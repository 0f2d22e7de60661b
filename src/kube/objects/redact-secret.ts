/** What must not be shown. Pure. */
import { isRecord } from './json.ts';
import type { KubeObject } from './object.ts';

export const MASK = '***';

const SECRET_FIELDS = ['data', 'stringData'] as const;
/** `kubectl apply` writes the whole object into it, a Secret's data too. */
export const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

export function isSecret({
  apiVersion,
  kind,
}: {
  readonly apiVersion?: unknown;
  readonly kind?: unknown;
}): boolean {
  return kind === 'Secret' && apiVersion === 'v1';
}

/** A copy that can be shown: of a Secret, keys stay and values go. */
export function redactSecret<T extends KubeObject>(object: T): T {
  if (!isSecret(object)) return object;
  const fields = SECRET_FIELDS.flatMap((field) =>
    object[field] === undefined ? [] : [[field, maskedValues(object[field])] as const],
  );
  const { annotations = {} } = object.metadata;
  const metadata =
    LAST_APPLIED in annotations
      ? { ...object.metadata, annotations: { ...annotations, [LAST_APPLIED]: MASK } }
      : object.metadata;
  return { ...object, metadata, ...Object.fromEntries(fields) };
}

function maskedValues(values: unknown): unknown {
  if (!isRecord(values)) return MASK;
  return Object.fromEntries(Object.keys(values).map((key) => [key, MASK]));
}

/** Of a path such as `.data.password`, or of `.data` itself. */
export function isSecretPath(path: string): boolean {
  return SECRET_FIELDS.some((field) => new RegExp(`^\\.${field}(\\W|$)`).test(path));
}
