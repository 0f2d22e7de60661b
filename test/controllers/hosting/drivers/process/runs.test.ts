import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  readRuns,
  recordedRuns,
  recordFirstStart,
  recordRun,
  recordSettled,
  settledPlane,
} from '../../../../../src/controllers/hosting/drivers/process/runs.ts';
import { memberRuns } from '../../../../../src/controllers/hosting/drivers/runs.ts';
import { settledPlane as settled, VERSION } from '../../../../support/hosting/objects.ts';
import { tempFolder } from '../../../../support/temp.ts';

const PROGRAMS = [{ path: (name: string) => name, version: VERSION, etcdVersion: 'v3.6.8' }];

describe('the record of what members are started with', () => {
  it('is what the control plane was created with until something is changed', async () => {
    const folder = tempFolder('runs');
    const record = await readRuns(folder);
    expect(settledPlane({ record: undefined, state: undefined }, record)).toBeUndefined();
    expect(recordedRuns(settled(), record)).toEqual(memberRuns(settled()));
  });

  it('keeps each member and what is settled apart', async () => {
    const folder = tempFolder('runs');
    const run = { version: 'v1.35.4', flags: { v: '4' } };
    await recordRun(folder, 'kube-scheduler', run);
    await recordSettled(folder, settled());
    const record = await readRuns(folder);
    expect(record.settled).toEqual(settled());
    expect(recordedRuns(settled(), record)).toEqual({ ...memberRuns(settled()), 'kube-scheduler': run });
  });

  it('remembers the etcd of the first start, and not that of later programs of the same version', async () => {
    const folder = tempFolder('runs');
    const { etcdVersion: _unknown, ...created } = settled();
    await recordFirstStart(folder, created, []);
    expect((await readRuns(folder)).settled).toBeUndefined();
    await recordFirstStart(folder, created, PROGRAMS);
    expect((await readRuns(folder)).settled?.etcdVersion).toBe('v3.6.8');
    await recordFirstStart(folder, { ...created, etcdVersion: 'v3.6.8' }, []);
    expect((await readRuns(folder)).settled?.etcdVersion).toBe('v3.6.8');
  });

  it.each(['{', '{}', '{"format":2,"members":{}}', '{"format":1,"members":{"kubelet":{"flags":{}}}}'])(
    'reports a damaged record %s instead of starting something else',
    async (content) => {
      const folder = tempFolder('runs');
      writeFileSync(join(folder, 'runs.json'), content);
      await expect(readRuns(folder)).rejects.toThrow('runs.json is not a valid record of a control plane');
    },
  );
});
