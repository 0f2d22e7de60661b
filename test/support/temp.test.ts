import { deepEqual, ok } from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { freePort, tempFolder } from './temp.ts';

const ofTheFile = tempFolder('file');
const ofTests: string[] = [];

afterAll(() => {
  ok(existsSync(ofTheFile), 'the folder of the file outlives its tests');
  deepEqual(ofTests.filter(existsSync), [], 'folders of tests are gone');
});

describe('a temporary folder', () => {
  it.fails('goes also when its test fails', () => {
    ofTests.push(tempFolder());
    expect('a failing test').toBe('');
  });

  it('is empty, and there while the test runs', () => {
    const folder = tempFolder();
    ofTests.push(folder);
    writeFileSync(join(folder, 'file'), 'content');
    expect(existsSync(ofTheFile)).toBe(true);
  });
});

it('finds a port that a program can listen on', async () => {
  const server = createServer();
  const port = await freePort();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
  await new Promise((resolve) => {
    server.close(resolve);
  });
  expect(port).toBeGreaterThan(1023);
});
