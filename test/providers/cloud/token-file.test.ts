import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readTokenFile } from '../../../src/providers/cloud/token-file.ts';
import { tempFolder } from '../../support/temp.ts';

describe('readTokenFile', () => {
  it('returns the token without the end of its line', async () => {
    const file = join(tempFolder('token'), 'token');
    writeFileSync(file, 'a.b.c\n');
    expect(await readTokenFile('TOKEN_FILE', file)).toBe('a.b.c');
  });

  it.each([
    ['is missing', 'token', 'ENOENT'],
    ['is a folder', '', 'EISDIR'],
  ])('is an error of the credentials when the file %s', async (_, name, code) => {
    const file = join(tempFolder('token'), name);
    await expect(readTokenFile('TOKEN_FILE', file)).rejects.toMatchObject({
      code: 'Auth',
      reason: 'NoCredentials',
      message: `TOKEN_FILE cannot be read: ${code}. Mount the token of the service account at ${file}`,
    });
  });
});
