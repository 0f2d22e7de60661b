import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { clusterFolder, removeOtherFolders } from '../../../../src/sync/hub/revisions/cluster-folders.ts';
import { tempFolder } from '../../../support/temp.ts';

describe('clusterFolder', () => {
  it('S24 has a fixed form for every name of a cluster, and is another one for each', () => {
    const folders = ['prod', 'prod.eu', '..', 'a/b', 'x'.repeat(253)].map(clusterFolder);
    for (const folder of folders) expect(folder).toMatch(/^[0-9a-f]{32}$/);
    expect(new Set(folders).size).toBe(folders.length);
  });
});

describe('removeOtherFolders', () => {
  it('S24 removes the folders of removed clusters, and nothing that sync did not create', async () => {
    const folder = tempFolder('revisions');
    for (const name of ['prod', 'test'].map(clusterFolder)) {
      mkdirSync(join(folder, name));
      writeFileSync(join(folder, name, 'index'), 'sealed');
    }
    mkdirSync(join(folder, 'lost+found'));
    expect(await removeOtherFolders(folder, ['prod', 'new'])).toBe(1);
    expect(readdirSync(folder).toSorted()).toEqual([clusterFolder('prod'), 'lost+found'].toSorted());
    expect(await removeOtherFolders(folder, ['prod', 'new'])).toBe(0);
  });

  it('S24 removes nothing where nothing was kept, and fails where the folder cannot be read', async () => {
    const folder = tempFolder('revisions');
    expect(await removeOtherFolders(join(folder, 'absent'), [])).toBe(0);
    writeFileSync(join(folder, 'file'), '');
    await expect(removeOtherFolders(join(folder, 'file'), [])).rejects.toThrow('ENOTDIR');
  });
});
