/** Remembers what a pure function returned for a text, for the latest texts only. The texts, which may be keys, are not kept. */
import { hash } from 'node:crypto';

export function rememberByText<T>(max: number, compute: (text: string) => T): (text: string) => T {
  const known = new Map<string, { readonly result: T }>();
  return (text) => {
    const key = hash('sha256', text, 'base64');
    const found = known.get(key) ?? { result: compute(text) };
    // The latest is at the end.
    known.delete(key);
    known.set(key, found);
    const [oldest] = known.keys();
    if (known.size > max && oldest !== undefined) known.delete(oldest);
    return found.result;
  };
}
