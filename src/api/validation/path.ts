/** The path of a failure in the notation of the API server. */
import type { Failure } from './runtime.ts';

export function pathOf({ instancePath, keyword, params, propertyName }: Failure): string {
  const parts = instancePath.split('/').slice(1).map(unescape);
  const last = lastPart(keyword, params, propertyName);
  return [...parts, ...(last === undefined ? [] : [last])].reduce(join, '');
}

/** Some failures concern a child of the path that ajv reports. */
function lastPart(keyword: string, params: Failure['params'], propertyName?: string): string | undefined {
  if (keyword === 'required') return params.missingProperty;
  if (keyword === 'x-kubenode-fields') return params.field;
  if (keyword === 'x-kubernetes-list-map-keys') return String(params.index);
  return propertyName;
}

function join(path: string, part: string): string {
  if (/^\d+$/.test(part)) return `${path}[${part}]`;
  return path === '' ? part : `${path}.${part}`;
}

function unescape(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}
