import { chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { createParsedFile } from '../../../../src/agent/host/disk/parsed-file.ts';
import { tempFolder } from '../../../support/temp.ts';

let file: string;
let parsed: string[];
let read: () => Promise<number>;

beforeEach(() => {
  file = join(tempFolder('parsed'), 'file');
  parsed = [];
  read = createParsedFile(file, (text) => {
    parsed.push(text);
    if (text === 'bad') throw new Error('cannot be parsed');
    return text.length;
  });
});

describe('a file that is parsed again only after it changed', () => {
  it.each<[string, () => void, string]>([
    ['is written in place', () => writeFileSync(file, 'longer'), 'longer'],
    ['is replaced', () => replace('eight'), 'eight'],
    ['is removed', () => rmSync(file), ''],
    ['gets another mode', () => chmodSync(file, 0o600), 'seven'],
  ])('when it %s', async (_, change, expected) => {
    writeFileSync(file, 'seven');
    expect([await read(), await read()]).toEqual([5, 5]);
    expect(parsed).toEqual(['seven']);
    change();
    expect([await read(), await read()]).toEqual([expected.length, expected.length]);
    expect(parsed).toEqual(['seven', expected]);
  });

  it('is empty while it is missing', async () => {
    expect([await read(), await read()]).toEqual([0, 0]);
    writeFileSync(file, 'one');
    expect(await read()).toBe(3);
  });

  it('is read again after it could not be parsed', async () => {
    writeFileSync(file, 'bad');
    await expect(read()).rejects.toThrow('cannot be parsed');
    await expect(read()).rejects.toThrow('cannot be parsed');
    writeFileSync(file, 'good');
    expect(await read()).toBe(4);
  });

  it('fails when it is not a file', async () => {
    mkdirSync(file);
    await expect(read()).rejects.toThrow('EISDIR');
  });
});

function replace(content: string): void {
  writeFileSync(`${file}.new`, content);
  renameSync(`${file}.new`, file);
}
