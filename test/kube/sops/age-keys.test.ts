import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { valueAt } from '../../../src/kube/objects/json.ts';
import { readAgeKeys } from '../../../src/kube/sops/age-keys.ts';
import {
  encryptedObject,
  FIRST_IDENTITY,
  FIRST_RECIPIENT,
  firstKeys,
  SECOND_IDENTITY,
  SECOND_RECIPIENT,
} from './encrypted-files.ts';

describe('readAgeKeys', () => {
  it('reads a file of age-keygen, with comments, and one of two keys', async () => {
    const file = `# created: 2026-11-27T13:35:00Z\r\n# public key: ${FIRST_RECIPIENT}\r\n${FIRST_IDENTITY}\r\n\n${SECOND_IDENTITY}\n`;
    expect((await readAgeKeys(file)).recipients).toEqual([FIRST_RECIPIENT, SECOND_RECIPIENT]);
  });

  it('unwraps a data key of 32 bytes, and prints no identity', async () => {
    const keys = await firstKeys();
    const wrapped = String(valueAt(encryptedObject('suffix.yaml'), 'sops', 'age', 0, 'enc'));
    expect(await keys.unwrap(wrapped)).toHaveLength(32);
    expect(inspect(keys, { depth: 9, showHidden: true }) + JSON.stringify(keys)).not.toContain('AGE-SECRET');
  });

  it.each<[what: string, text: string, reason: RegExp]>([
    [
      'is empty',
      '# none\n\n',
      /^it has no age identity: expected lines such as AGE-SECRET-KEY-1… from age-keygen$/,
    ],
    ['has a public key', `${FIRST_IDENTITY}\n${FIRST_RECIPIENT}`, /^line 2 is not an age identity: expected/],
    [
      'has a damaged identity',
      FIRST_IDENTITY.replace('132Q', '132P'),
      /^line 1 is not an age identity, or is dam/,
    ],
    ['has a plug-in', 'AGE-PLUGIN-YUBIKEY-1QQQQ', /^line 1 is not an age identity: expected/],
    ['has too many', `${FIRST_IDENTITY}\n`.repeat(17), /^expected at most 16 age identities, got 17$/],
  ])('refuses a Secret that %s, without quoting it', async (_, text, reason) => {
    const error = await readAgeKeys(text).then(String, (thrown: unknown) => String(thrown));
    expect(error.replace('SopsError: ', '')).toMatch(reason);
    expect(error).not.toMatch(/132Q|132P|QQQQ/);
  });

  it.each<[what: string, text: string]>([
    ['text', 'x'],
    ['nothing', ''],
    ['a file without its body', '-----BEGIN AGE ENCRYPTED FILE-----\n-----END AGE ENCRYPTED FILE-----\n'],
  ])('refuses a wrapped key that is %s', async (_, text) => {
    await expect((await firstKeys()).unwrap(text)).rejects.toThrow('the wrapped data key is damaged');
  });
});
