/** Builds the form in which an encrypted object is sent to the API server. Pure. */
import { isRecord } from '../objects/json.ts';
import type { KubeObject } from '../objects/object.ts';
import { isSecret } from '../objects/redact-secret.ts';

/**
 * Returns the object without the metadata of SOPS. The values of a Secret are all in `data`: the API server returns no stringData, so
 * drift of it would not be found, and a removed key would stay.
 */
export function sentForm(encrypted: KubeObject): KubeObject {
  const { sops: _, ...object } = encrypted;
  const { stringData, data, ...rest } = object;
  if (!isSecret(object) || !isRecord(stringData)) return object;
  const encoded = Object.entries(stringData).map(([key, value]) => [key, encode(value)] as const);
  return { ...rest, data: Object.fromEntries([...Object.entries(isRecord(data) ? data : {}), ...encoded]) };
}

function encode(value: unknown): unknown {
  return typeof value === 'string' ? Buffer.from(value).toString('base64') : value;
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Returns why the API server would refuse a Secret: its own answer could quote a value. */
export function secretProblem(object: KubeObject): string | undefined {
  if (!isSecret(object) || !isRecord(object['data'])) return undefined;
  for (const [key, value] of Object.entries(object['data'])) {
    if (typeof value !== 'string') {
      return `the value of ${key} is a ${typeof value}: quote it, and encrypt the file again`;
    }
    if (!BASE64.test(value)) return `data.${key} is not base64: use stringData for plain text`;
  }
  return undefined;
}
