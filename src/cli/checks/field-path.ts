/** `spec.stages[0].name` as the path into the object. */
export function splitFieldPath(path: string): (string | number)[] {
  return [...path.matchAll(/\[(?<index>\d+)\]|\["?(?<key>[^\]"]+)"?\]|(?<name>[^.[\]]+)/g)].map(
    ({ groups }) =>
      groups?.['index'] === undefined ? (groups?.['key'] ?? groups?.['name'] ?? '') : Number(groups['index']),
  );
}
