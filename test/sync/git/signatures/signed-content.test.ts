import { describe, expect, it } from 'vitest';
import { splitSignature } from '../../../../src/sync/git/signatures/signed-content.ts';

const SHA1 = 'a'.repeat(40);
const SHA256 = 'b'.repeat(64);
const SIGNATURE = 'gpgsig -----BEGIN\n line\n \n -----END\n';
const OTHER = 'gpgsig-sha256 -----OTHER\n line\n';

function split(text: string, oid = SHA1): { payload: string; signature: string | undefined } {
  const { payload, signature } = splitSignature(oid, { content: Buffer.from(text, 'latin1') });
  return { payload: payload.toString('latin1'), signature };
}

describe('splitSignature', () => {
  it.each([
    ['between headers', `tree t\n${SIGNATURE}encoding x\n\nmessage\n`, 'tree t\nencoding x\n\nmessage\n'],
    ['as the last header', `tree t\n${SIGNATURE}\nmessage`, 'tree t\n\nmessage'],
    ['without a message', `tree t\n${SIGNATURE}`, 'tree t\n'],
    ['with a message that is not UTF-8', `tree t\n${SIGNATURE}\n\xe9\n`, 'tree t\n\n\xe9\n'],
    ['beside one for the other algorithm', `tree t\n${OTHER}${SIGNATURE}\nm`, 'tree t\n\nm'],
    ['beside a header that git signs', `tree t\ngpgsign x\n${SIGNATURE}\nm`, 'tree t\ngpgsign x\n\nm'],
    [
      'beside that of a merged tag, which was signed with the commit',
      `tree t\nmergetag object o\n gpgsig -----BEGIN\n\x20\n${SIGNATURE}\nm`,
      'tree t\nmergetag object o\n gpgsig -----BEGIN\n\x20\n\nm',
    ],
  ])('S19 takes out the signature %s', (_, text, payload) => {
    expect(split(text)).toEqual({ payload, signature: '-----BEGIN\nline\n\n-----END\n' });
  });

  it('S19 finds no signature in the message, and none for another algorithm', () => {
    const text = `tree t\n\n${SIGNATURE}`;
    expect(split(text)).toEqual({ payload: text, signature: undefined });
    expect(split(`tree t\n${OTHER}\nm`)).toEqual({ payload: 'tree t\n\nm', signature: undefined });
    expect(split(`tree t\n${OTHER}\nm`, SHA256).signature).toBe('-----OTHER\nline\n');
  });

  it('S19 refuses a commit with two signatures', () => {
    expect(() => split(`tree t\n${SIGNATURE}${SIGNATURE}\nm`)).toThrow('it has 2 signatures, expected 1');
  });
});
