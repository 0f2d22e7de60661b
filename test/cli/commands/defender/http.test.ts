import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import {
  addDefenderHttpOptions,
  readAnswer,
  readAuthorityFile,
} from '../../../../src/cli/commands/defender/http.ts';

const SERVER = 'https://defender:8443';

describe('an answer of the HTTP API', () => {
  it('is returned when it was decided', () => {
    expect(readAnswer(SERVER, { status: 200, body: '{"machine":"m-1"}' })).toEqual({ machine: 'm-1' });
  });

  it.each([
    [
      403,
      '{"reason":"NotApprover","message":"bob is in no group"}',
      { message: 'bob is in no group', exitCode: 77, hint: undefined },
    ],
    [
      404,
      '{"reason":"NotFound","message":"nothing waits"}',
      { message: 'nothing waits', exitCode: 65, hint: undefined },
    ],
    [
      409,
      '{"reason":"AlreadyAnswered","message":"ann refused it"}',
      { message: 'ann refused it', exitCode: 1, hint: undefined },
    ],
    [
      503,
      '{"message":"r-2 leads","leader":"r-2"}',
      { message: 'r-2 leads', exitCode: 69, hint: 'ask the leader: r-2' },
    ],
    [502, '<html>', { message: 'unexpected answer with status 502', exitCode: 1, hint: undefined }],
    [200, 'no JSON', { message: 'unexpected answer with status 200', exitCode: 1, hint: undefined }],
  ])('fails for %i with %s', (status, body, expected) => {
    expect(() => readAnswer(SERVER, { status, body })).toThrow(
      expect.objectContaining({ ...expected, where: SERVER }),
    );
  });
});

it('a certificate authority that cannot be read is named with the option that reads it', async () => {
  await expect(readAuthorityFile('/does/not/exist.pem')).rejects.toMatchObject({
    message: 'the certificate authority cannot be read: ENOENT',
    where: '/does/not/exist.pem',
    hint: expect.stringContaining('--http-ca') as string,
    exitCode: 65,
  });
  expect(await readAuthorityFile(import.meta.filename)).toContain('certificate authority');
});

function parse(address: string): unknown {
  const quiet = new Command().exitOverride().configureOutput({ writeErr: () => undefined });
  return addDefenderHttpOptions(quiet).parse(['--http', address], { from: 'user' }).opts()['http'];
}

describe('--http', () => {
  it('sends a token over TLS only', () => {
    expect(parse('https://defender:8443/')).toBe('https://defender:8443');
    for (const address of ['http://defender:8443', 'defender']) {
      expect(() => parse(address)).toThrow('Expected an address that begins with https://');
    }
  });
});
