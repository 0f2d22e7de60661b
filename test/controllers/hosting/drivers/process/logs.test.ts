import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { boundLog } from '../../../../../src/controllers/hosting/drivers/process/logs.ts';
import { tempFolder } from '../../../../support/temp.ts';

it('boundLog keeps one older log of a file that is too large, and is quiet about one that is missing', async () => {
  const path = join(tempFolder('logs'), 'etcd.log');
  await boundLog(path, 10);
  writeFileSync(path, '0123456789');
  await boundLog(path, 10);
  expect(existsSync(`${path}.1`)).toBe(false);
  writeFileSync(path, '0123456789a', { flag: 'w' });
  await boundLog(path, 10);
  expect([readFileSync(path, 'utf8'), readFileSync(`${path}.1`, 'utf8')]).toEqual(['', '0123456789a']);
  expect(statSync(`${path}.1`).mode & 0o777).toBe(0o600);
});

it('boundLog empties a log that it cannot copy, so that hosting goes on where a disk is full', async () => {
  const path = join(tempFolder('logs'), 'etcd.log');
  mkdirSync(`${path}.1`);
  writeFileSync(path, '0123456789a');
  await boundLog(path, 10);
  expect(readFileSync(path, 'utf8')).toBe('');
});
