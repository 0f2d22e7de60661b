import { describe, expect, it } from 'vitest';
import { createKeyOwners } from '../../../../../src/sync/git/signatures/ssh/people.ts';
import { sshFingerprint } from '../../../../../src/sync/git/signatures/ssh/public-key.ts';

/** Lines as `key: name,name`. */
function ownersIn(...lines: readonly string[]): (key: string) => readonly string[] {
  const byKey = new Map<string, { readonly principals: string }[]>();
  for (const line of lines) {
    const [key = '', principals = ''] = line.split(': ');
    byKey.set(base64(key), [...(byKey.get(base64(key)) ?? []), { principals }]);
  }
  const owners = createKeyOwners(byKey);
  return (key) => owners(base64(key)).toSorted();
}

function base64(key: string): string {
  return Buffer.from(key).toString('base64');
}

function print(key: string): string {
  return sshFingerprint(Buffer.from(key));
}

describe('createKeyOwners', () => {
  it.each<[what: string, lines: readonly string[], names: readonly string[], keys: readonly string[]]>([
    ['a name and its key', ['k1: ann', 'k2: bob'], ['ann'], ['k1']],
    ['two keys of a name', ['k1: ann', 'k2: ann', 'k3: bob'], ['ann'], ['k1', 'k2']],
    [
      'two names of a key, in one line or two',
      ['k1: ann,ann@home', 'k1: ann@work'],
      ['ann', 'ann@home', 'ann@work'],
      ['k1'],
    ],
    [
      'names and keys that lead to one another',
      ['k1: ann', 'k2: ANN, ann@home', 'k3: ann@home'],
      ['ann', 'ann@home'],
      ['k1', 'k2', 'k3'],
    ],
  ])('S36 takes %s for one person', (_, lines, names, keys) => {
    expect(ownersIn(...lines)('k1')).toEqual([...names, ...keys.map(print)].toSorted());
  });

  it('S36 takes the one name that very many keys have for everybody', () => {
    const shared = Array.from({ length: 5000 }, (_, index) => `k${index}: team`);
    expect(ownersIn(...shared)('k1')).toEqual(['*']);
  });
});
