import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import {
  createOwnedFolder,
  removeAbandonedFolders,
  removeOwnedFolder,
} from '../../../src/os/worker/owned-folder.ts';
import { tempFolder } from '../../support/temp.ts';

const NOW = createSystemClock().now();
const MUCH_LATER = new Date(NOW.getTime() + 2 * 3_600_000);

/** A folder like one that this process made, with another owner. */
async function folderOf(parent: string, changes: object | string): Promise<string> {
  const own = await createOwnedFolder('render');
  const owner = JSON.parse(readFileSync(`${own}.owner`, 'utf8')) as object;
  await removeOwnedFolder(own);
  const path = join(parent, basename(own));
  mkdirSync(join(path, 'a'), { recursive: true });
  const content = typeof changes === 'string' ? changes : JSON.stringify({ ...owner, ...changes });
  writeFileSync(`${path}.owner`, content);
  return path;
}

describe('an owned folder', () => {
  it('is removed with the file that names its owner', async () => {
    const path = await createOwnedFolder('render-other');
    expect([existsSync(path), existsSync(`${path}.owner`)]).toEqual([true, true]);
    await removeOwnedFolder(path);
    expect([existsSync(path), existsSync(`${path}.owner`)]).toEqual([false, false]);
  });
});

describe('removeAbandonedFolders', () => {
  it('keeps the folder of a running process, however old it is', async () => {
    const parent = tempFolder();
    const path = await folderOf(parent, {});
    expect(await removeAbandonedFolders(MUCH_LATER, parent)).toEqual([]);
    expect(existsSync(path)).toBe(true);
  });

  it('SAF-7 removes the folder of a process that has ended, also when its pid is used again', async () => {
    const parent = tempFolder();
    const path = await folderOf(parent, { startTicks: '1' });
    expect(await removeAbandonedFolders(NOW, parent)).toEqual([path]);
    expect(readdirSync(parent)).toEqual([]);
  });

  it.each<[what: string, changes: object | string]>([
    ['of another boot', { bootId: '0' }],
    ['in another container', { pidNamespace: 'pid:[1]' }],
    ['that cannot be read', '{'],
  ])('keeps the folder of a process %s until no render takes that long', async (_, changes) => {
    const parent = tempFolder();
    const path = await folderOf(parent, changes);
    expect(await removeAbandonedFolders(NOW, parent)).toEqual([]);
    expect(await removeAbandonedFolders(MUCH_LATER, parent)).toEqual([path]);
  });

  it('leaves everything else alone', async () => {
    const parent = tempFolder();
    for (const name of ['kubenode-render-AbCdEf', 'kubenode', 'other.owner']) mkdirSync(join(parent, name));
    expect(await removeAbandonedFolders(MUCH_LATER, parent)).toEqual([]);
  });
});
