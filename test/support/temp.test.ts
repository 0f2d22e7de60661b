import { deepEqual, ok } from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { tempFolder } from './temp.ts';

const ofTheFile = tempFolder('file');
const ofTests: string[] = [];

afterAll(() => {
  ok(existsSync(ofTheFile), 'the folder of the file still exists after its tests');
  deepEqual(ofTests.filter(existsSync), [], 'folders of tests are removed');
});

describe('a temporary folder', () => {
  it.fails('is removed also when its test fails', () => {
    ofTests.push(tempFolder());
    expect('a failing test').toBe('');
  });

  it('is empty, and exists while the test runs', () => {
    const folder = tempFolder();
    ofTests.push(folder);
    writeFileSync(join(folder, 'file'), 'content');
    expect(existsSync(ofTheFile)).toBe(true);
  });
});
