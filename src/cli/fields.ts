/** Fields of objects for people: what is not there has a stand-in. */
import { valueAt } from '../kube/objects/json.ts';

/** `said(release, 'status.waiting.message')`. */
export function said(value: unknown, path: string, standIn = ''): string {
  const found = valueAt(value, ...path.split('.'));
  return typeof found === 'string' && found !== '' ? found : standIn;
}

export function count(value: unknown, path: string): number {
  const found = valueAt(value, ...path.split('.'));
  return typeof found === 'number' ? found : 0;
}
