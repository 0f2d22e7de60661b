import { describe, expect, it } from 'vitest';
import { requireBackupClass } from '../../../../../../src/controllers/hosting/drivers/workload/execute/volume.ts';
import { hubImages } from '../../../../../support/hosting/memory-hub.ts';

describe('the class of the volume of backups', () => {
  it('HOS-32 is that of the file of images, and never the default of the hub', () => {
    const { backupStorageClass, ...without } = hubImages();
    const found = { where: 'namespace kn-ci' };
    expect(requireBackupClass(found, hubImages())).toBe(backupStorageClass);
    for (const images of [without, undefined]) {
      expect(() => requireBackupClass(found, images)).toThrow('names no backupStorageClass');
    }
  });
});
