import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { compressProgram } from '../../../scripts/agent/build.ts';
import { tempFolder } from '../../support/temp.ts';

describe('compressProgram', () => {
  it('replaces the compressed program of an earlier build', async () => {
    const folder = tempFolder('build');
    const file = join(folder, 'program');
    writeFileSync(file, 'the program');
    writeFileSync(`${file}.gz`, 'earlier');
    expect(await compressProgram(file)).toBe(`${file}.gz`);
    expect(gunzipSync(readFileSync(`${file}.gz`)).toString()).toBe('the program');
    expect(readdirSync(folder).toSorted()).toEqual(['program', 'program.gz']);
  });

  it('keeps the one of the earlier build when it fails', async () => {
    const folder = tempFolder('build');
    const file = join(folder, 'program');
    writeFileSync(`${file}.gz`, 'earlier');
    await expect(compressProgram(file)).rejects.toMatchObject({ code: 'ENOENT' });
    expect(readFileSync(`${file}.gz`, 'utf8')).toBe('earlier');
    expect(readdirSync(folder)).toEqual(['program.gz']);
  });
});
