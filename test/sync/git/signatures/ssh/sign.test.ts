import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sshSignature } from '../../../../../src/sync/git/signatures/ssh/sign.ts';
import {
  parseSshSignature,
  verifySshSignature,
} from '../../../../../src/sync/git/signatures/ssh/signature.ts';
import { createSshSigner } from '../../../../support/git-server/signer.ts';
import { tempFolder } from '../../../../support/temp.ts';

const PAYLOAD = Buffer.from('tree t\n\nmessage\n');
const sync = createSshSigner('sync');
const key = readFileSync(sync.keyFile, 'utf8');

describe('sshSignature', () => {
  it('makes the bytes that ssh-keygen makes', () => {
    const args = ['-Y', 'sign', '-q', '-n', 'git', '-f', sync.keyFile];
    const expected = execFileSync('ssh-keygen', args, { input: PAYLOAD, encoding: 'utf8', stdio: 'pipe' });
    expect(sshSignature(key, PAYLOAD)).toBe(expected.trimEnd());
  });

  it('is verified by us and by ssh-keygen', () => {
    const signature = sshSignature(key, PAYLOAD);
    verifySshSignature(parseSshSignature(`${signature}\n`), PAYLOAD);
    const folder = tempFolder('sign');
    const [file, signers] = [join(folder, 'signature'), join(folder, 'signers')];
    writeFileSync(file, `${signature}\n`);
    writeFileSync(signers, sync.entry);
    const args = ['-Y', 'verify', '-f', signers, '-I', 'sync@example.com', '-n', 'git', '-s', file];
    expect(execFileSync('ssh-keygen', args, { input: PAYLOAD, encoding: 'utf8', stdio: 'pipe' })).toMatch(
      /^Good "git" signature/,
    );
  });
});
