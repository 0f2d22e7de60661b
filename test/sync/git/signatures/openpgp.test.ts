import { describe, expect, it } from 'vitest';
import { PGP_ARMOR, readOpenPgpKeys, splitKeyBlocks } from '../../../../src/sync/git/signatures/openpgp.ts';
import { readSignature, readSignerFile } from '../../../../src/sync/git/signatures/signer-file.ts';

const [BEGIN, END] = ['-----BEGIN PGP PUBLIC KEY BLOCK-----', '-----END PGP PUBLIC KEY BLOCK-----'];
const TIMES = { committedAt: new Date('2030-01-01T00:00:00Z'), now: new Date('2030-01-01T00:00:00Z') };

describe('keys of OpenPGP in a file of signers', () => {
  it('S19 are split from the other lines, which keep their numbers', () => {
    const block = `${BEGIN}\n\nabc\n${END}`;
    expect(splitKeyBlocks(`one\n${block}\nsix\n${block}\n`)).toEqual({
      blocks: [block, block],
      rest: 'one\n\n\n\n\nsix\n\n\n\n\n',
    });
  });

  it('S19 are not read beyond 512 KiB, which would take seconds', async () => {
    const block = `${BEGIN}\n${'a'.repeat(300 * 1024)}\n${END}`;
    await expect(readOpenPgpKeys([block, block])).rejects.toThrow(
      /it has 61\d{4} bytes of OpenPGP keys, expected at most 524288: use SSH keys/,
    );
  });

  it('S19 are a problem of the file when they cannot be read, which leaves its SSH keys usable', async () => {
    const key = Buffer.from('\0\0\0\x0bssh-ed25519\0\0\0\x20' + 'k'.repeat(32), 'latin1').toString('base64');
    const file = await readSignerFile(Buffer.from(`ann ssh-ed25519 ${key}\n${BEGIN}\n\nabc\n${END}\n`));
    expect(file.problem).toMatch(/^an OpenPGP key cannot be read: /);
    expect([...file.ssh.keys()]).toEqual([key]);
  });
});

describe('a signature of OpenPGP', () => {
  it.each([
    ['is larger than 64 KiB', 'a'.repeat(65 * 1024), 'its OpenPGP signature is too large'],
    ['is not an armored packet', '\n\n!!\n', 'its OpenPGP signature cannot be read'],
  ])('S19 is refused when it %s', async (_, body, message) => {
    const openpgp = await readOpenPgpKeys([]);
    const check = readSignature({ signature: `${PGP_ARMOR}${body}`, payload: Buffer.from('x') }, TIMES);
    await expect(check({ ssh: new Map(), openpgp })).rejects.toThrow(message);
  });
});
