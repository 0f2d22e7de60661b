import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readPrograms } from '../../../../src/providers/ssh/import/programs.ts';
import { tempFolder } from '../../../support/temp.ts';

const ENTRY = {
  arch: 'arm64',
  file: 'agent',
  sha256: 'a'.repeat(64),
  sizeBytes: 5,
  compressedFile: 'agent.gz',
};

describe('readPrograms', () => {
  it('reads the programs of the architectures that hosts have, from this folder only', async () => {
    const { folder, programs } = await read({
      version: '1.0.0',
      programs: [
        { ...ENTRY, compressedFile: '../../etc/agent.gz' },
        { ...ENTRY, arch: 'other' },
      ],
    });
    expect(programs).toEqual([
      {
        version: '1.0.0',
        arch: 'aarch64',
        sha256: 'a'.repeat(64),
        sizeBytes: 5,
        compressedFile: join(folder, 'agent.gz'),
      },
    ]);
  });

  it.each([
    ['{', 'Expected property name'],
    [[], 'expected an object'],
    [{ programs: [] }, 'version is missing'],
    [{ version: '1', programs: [{ ...ENTRY, sha256: 'short' }] }, 'the entry of aarch64 is not complete'],
    [{ version: '1', programs: [{ ...ENTRY, sizeBytes: '5' }] }, 'the entry of aarch64 is not complete'],
  ])('names what is wrong with %j', async (list, reason) => {
    await expect(read(list)).rejects.toMatchObject({
      code: 'ProgramMissing',
      message: expect.stringContaining(reason) as string,
    });
  });
});

async function read(list: unknown) {
  const folder = tempFolder('programs');
  writeFileSync(join(folder, 'programs.json'), typeof list === 'string' ? list : JSON.stringify(list));
  return { folder, programs: await readPrograms(folder) };
}
