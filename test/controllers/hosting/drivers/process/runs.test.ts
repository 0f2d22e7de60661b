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
import { createLayout } from '../../../../../src/local/layout.ts';
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
    const layout = createLayout(folder);
    const { etcdVersion: _unknown, ...created } = settled();
    const etcdOf = async (): Promise<string | undefined> => (await readRuns(folder)).settled?.etcdVersion;
    await recordFirstStart({ layout, settled: created }, 'etcd', []);
    expect(await etcdOf()).toBeUndefined();
    await recordFirstStart({ layout, settled: created }, 'kube-scheduler', PROGRAMS);
    expect(await etcdOf()).toBeUndefined();
    await recordFirstStart({ layout, settled: created }, 'etcd', PROGRAMS);
    expect(await etcdOf()).toBe('v3.6.8');
    const later = PROGRAMS.map((each) => ({ ...each, etcdVersion: 'v3.7.0' }));
    await recordFirstStart({ layout, settled: settled() }, 'etcd', later);
    expect(await etcdOf()).toBe('v3.6.8');
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
