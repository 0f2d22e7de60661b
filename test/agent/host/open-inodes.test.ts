import { linkSync } from 'node:fs';
import { open, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { inodeOf } from '../../../src/agent/host/disk/inode.ts';
import { readOpenInodes } from '../../../src/agent/host/open-inodes.ts';
import { tempFolder } from '../../support/temp.ts';

it('R38 knows an open file under each of its names, also after it was moved, until it is closed', async () => {
  const folder = tempFolder('inodes');
  const file = join(folder, 'a');
  await writeFile(file, 'x');
  linkSync(file, join(folder, 'b'));
  const inode = inodeOf(await stat(join(folder, 'b'), { bigint: true }));
  expect(await readOpenInodes('Skip')).not.toContain(inode);
  const handle = await open(file);
  await rename(file, join(folder, 'c'));
  expect(await readOpenInodes('Skip')).toContain(inode);
  await handle.close();
  expect(await readOpenInodes('Skip')).not.toContain(inode);
});
