import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  readPlaneRecord,
  readStarts,
  recordStart,
  writePlaneRecord,
} from '../../../../../src/controllers/hosting/drivers/process/records.ts';
import { ago } from '../../../../support/builders.ts';
import { tempFolder } from '../../../../support/temp.ts';

const RECORD = { format: 1, cluster: 'ci', uid: 'u', version: 'v1.36.3', isDestroying: false } as const;

describe('the records of a control plane', () => {
  it('are private to this user', async () => {
    const folder = tempFolder('records');
    expect(await readPlaneRecord(folder)).toBeUndefined();
    await writePlaneRecord(folder, RECORD);
    expect(await readPlaneRecord(folder)).toEqual(RECORD);
    expect(statSync(join(folder, 'plane.json')).mode & 0o777).toBe(0o600);
  });

  it.each([
    '',
    '{',
    '{"format":2}',
    '{"format":1,"cluster":"ci","uid":"u","version":"v","isDestroying":"no"}',
  ])('are not replaced when they are damaged: %j', async (text) => {
    const folder = tempFolder('records');
    writeFileSync(join(folder, 'plane.json'), text);
    await expect(readPlaneRecord(folder)).rejects.toThrow('not a valid record of a control plane');
  });

  it('keep the last ten starts of each member, and forget them when they are damaged', async () => {
    const folder = tempFolder('records');
    for (let seconds = 12; seconds > 0; seconds -= 1) {
      await recordStart(folder, 'etcd', new Date(ago(seconds)));
    }
    await recordStart(folder, 'kube-apiserver', new Date(ago(0)));
    const starts = await readStarts(folder);
    expect(starts.etcd).toHaveLength(10);
    expect(new Date(starts.etcd?.at(-1) ?? '')).toEqual(new Date(ago(1)));
    expect(starts['kube-apiserver']).toHaveLength(1);
    writeFileSync(join(folder, 'starts.json'), '{"etcd": 1}');
    expect(await readStarts(folder)).toEqual({});
  });
});
