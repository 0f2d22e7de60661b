import { describe, expect, it } from 'vitest';
import { createTourSigner } from '../../../src/demo/tour/signer.ts';
import { parseAllowedSigners } from '../../../src/sync/git/signatures/ssh/allowed-signers.ts';
import { parseSshSignature, verifySshSignature } from '../../../src/sync/git/signatures/ssh/signature.ts';

describe('the SSH key of the tour', () => {
  it('S19 signs content so that sync verifies it, and no other content', () => {
    const signer = createTourSigner('tour@localhost');
    const signature = parseSshSignature(signer.sign('a commit'));
    expect(() => verifySshSignature(signature, Buffer.from('a commit'))).not.toThrow();
    expect(() => verifySshSignature(signature, Buffer.from('another'))).toThrow('over other content');
  });

  it('S19 is the key that its line of allowed signers lists, and another one for each tour', () => {
    const signer = createTourSigner('tour@localhost');
    const { byKey, problems } = parseAllowedSigners(signer.entry);
    expect([byKey.size, problems]).toEqual([1, []]);
    const [key = ''] = byKey.keys();
    expect(signer.entry).toContain(parseSshSignature(signer.sign('')).key.toString('base64'));
    expect([...parseAllowedSigners(createTourSigner('tour@localhost').entry).byKey.keys()]).not.toEqual([
      key,
    ]);
  });
});
