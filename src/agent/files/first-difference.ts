/** Describes where two texts differ first. Values are not shown: they may be secrets. Pure. */

/** `max-pods = 5`, `"maxPods": 5,`, `maxPods: 5`, `export MAX_PODS=5`. A line of base64 ends with `=`, and is a value. */
const KEY = /^\s*(?:- |export )?"?(?<key>[A-Za-z][\w.-]{0,62})"?\s*(?::|=\s*[^=\s])/;

/** Returns the place of the first difference, such as `line 12 (maxPods)`. */
export function firstDifference(expected: string, found: string): string {
  const [wanted, there] = [expected.split('\n'), found.split('\n')];
  const same = wanted.findIndex((line, index) => line !== there[index]);
  const index = same === -1 ? wanted.length : same;
  const key = keyOf(wanted[index]) ?? keyOf(there[index]);
  return `line ${index + 1}${key === undefined ? '' : ` (${key})`}`;
}

function keyOf(line = ''): string | undefined {
  return KEY.exec(line)?.groups?.['key'];
}
