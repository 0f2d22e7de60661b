/** Paths of a JSON patch (RFC 6901). Pure. */

/** `pointerTo('metadata', 'labels', 'a/b')` is `/metadata/labels/a~1b`. */
export function pointerTo(...keys: readonly string[]): string {
  return keys.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
