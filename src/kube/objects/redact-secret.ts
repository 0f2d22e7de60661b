/** Hides the values of Secrets in output for people. Pure. */
import { isRecord } from './json.ts';
import type { KubeObject } from './object.ts';

/** Replaces every secret value, in output and logs. */
export const MASK = '***';

/** The fields of a Secret that hold its values. */
export const SECRET_FIELDS = ['data', 'stringData'] as const;
/** `kubectl apply` stores the whole object in it, including the data of a Secret. */
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

/** A copy without the values of a Secret; its keys are kept. Other objects unchanged. */
export function redactSecret<T extends KubeObject>(object: T): T {
  if (!isSecret(object)) return object;
  const fields = SECRET_FIELDS.flatMap((field) =>
    object[field] === undefined ? [] : [[field, maskValues(object[field])] as const],
  );
  const { annotations = {} } = object.metadata;
  const metadata =
    LAST_APPLIED in annotations
      ? { ...object.metadata, annotations: { ...annotations, [LAST_APPLIED]: MASK } }
      : object.metadata;
  return { ...object, metadata, ...Object.fromEntries(fields) };
}

function maskValues(values: unknown): unknown {
  if (!isRecord(values)) return MASK;
  return Object.fromEntries(Object.keys(values).map((key) => [key, MASK]));
}

/** True for a path such as `.data.password`, and for `.data` itself. */
export function isSecretPath(path: string): boolean {
  return SECRET_FIELDS.some((field) => new RegExp(`^\\.${field}(\\W|$)`).test(path));
}
