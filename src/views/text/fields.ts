/** Reads optional fields of objects for display, with a fallback for missing ones. */
import { valueAt } from '../../kube/objects/json.ts';

/** `textField(release, 'status.waiting.message')`. */
export function textField(value: unknown, path: string, fallback = ''): string {
  const found = valueAt(value, ...path.split('.'));
  return typeof found === 'string' && found !== '' ? found : fallback;
}

export function numberField(value: unknown, path: string): number {
  const found = valueAt(value, ...path.split('.'));
  return typeof found === 'number' ? found : 0;
}
