/** CEL expressions that several policies share. */
import { serviceAccountUser } from '../names.ts';

export const USER = 'request.userInfo.username';

/** A CEL string literal. */
export function celText(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

export function celList(values: readonly string[]): string {
  return `[${values.map(celText).join(', ')}]`;
}

/** Whether the request is from one of these ServiceAccounts in kubenode-system. */
export function isPrincipal(...principals: readonly string[]): string {
  const [first = '', ...rest] = principals.map(serviceAccountUser);
  return rest.length === 0 ? `${USER} == ${celText(first)}` : `${USER} in ${celList([first, ...rest])}`;
}

/** Whether two maps are equal except for these keys. */
export function sameBut(keys: readonly string[], left: string, right: string): string {
  const but = celList(keys);
  return (
    `${left}.all(k, k in ${but} || (k in ${right} && ${left}[k] == ${right}[k])) && ` +
    `${right}.all(k, k in ${but} || k in ${left})`
  );
}

/** The value of an annotation, or the empty string. */
export function annotation(object: string, key: string): string {
  return (
    `(has(${object}.metadata.annotations) && ${celText(key)} in ${object}.metadata.annotations ` +
    `? ${object}.metadata.annotations[${celText(key)}] : '')`
  );
}
