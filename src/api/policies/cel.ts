/** Pieces of CEL that several policies are made of. */
import { serviceAccountUser } from '../names.ts';

export const USER = 'request.userInfo.username';

/** A value of ours as CEL text. */
export function text(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

export function list(values: readonly string[]): string {
  return `[${values.map(text).join(', ')}]`;
}

/** The request comes from one of these ServiceAccounts of ours. */
export function isPrincipal(...principals: readonly string[]): string {
  const [first = '', ...rest] = principals.map(serviceAccountUser);
  return rest.length === 0 ? `${USER} == ${text(first)}` : `${USER} in ${list([first, ...rest])}`;
}

/** Both maps hold the same under every key but these. */
export function sameBut(keys: readonly string[], left: string, right: string): string {
  const but = list(keys);
  return (
    `${left}.all(k, k in ${but} || (k in ${right} && ${left}[k] == ${right}[k])) && ` +
    `${right}.all(k, k in ${but} || k in ${left})`
  );
}

/** An annotation, or nothing. */
export function annotation(object: string, key: string): string {
  return (
    `(has(${object}.metadata.annotations) && ${text(key)} in ${object}.metadata.annotations ` +
    `? ${object}.metadata.annotations[${text(key)}] : '')`
  );
}
