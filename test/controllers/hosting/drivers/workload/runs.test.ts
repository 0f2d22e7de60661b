import { describe, expect, it } from 'vitest';
import { settledOf } from '../../../../../src/controllers/hosting/drivers/workload/differences.ts';
import {
  withRun,
  withSettled,
  withStart,
} from '../../../../../src/controllers/hosting/drivers/workload/record.ts';
import {
  recordedDigest,
  recordedRun,
  runDigest,
  runningRecord,
  workloadRuns,
} from '../../../../../src/controllers/hosting/drivers/workload/runs.ts';
import { NOW } from '../../../../support/builders.ts';
import { IMAGE, planeRecord } from '../../../../support/hosting/workload.ts';

const RECORD = planeRecord({ scheduler: { extraArgs: { v: '2' }, memoryMiB: 96 } });
const RUN = { version: 'v1.37.0', flags: { v: '4' }, requests: { cpuMillis: 10 } };
const CHANGED = withRun(RECORD, 'kube-scheduler', { run: RUN, image: IMAGE, at: NOW });

describe('what a member is to run with', () => {
  it('is what is settled, until it is changed', () => {
    expect(recordedRun(RECORD, 'kube-scheduler')).toEqual({
      version: 'v1.36.3',
      flags: { v: '2' },
      requests: { memoryMiB: 96 },
    });
    expect(recordedRun(CHANGED, 'kube-scheduler')).toEqual(RUN);
    expect(workloadRuns(CHANGED)['kube-controller-manager']).toEqual(
      workloadRuns(RECORD)['kube-controller-manager'],
    );
  });

  it('is what its pod is built from, and what others keep', () => {
    const { settings, placement } = runningRecord(CHANGED, 'kube-scheduler');
    expect([settings.scheduler, placement.requests['kube-scheduler']]).toEqual([
      { v: '4' },
      { cpuMillis: 10 },
    ]);
    expect(settings.quotaMiB).toBe(RECORD.settings.quotaMiB);
  });

  it('HOS-16 has the flags of each of several members, also while a change has reached one of them', () => {
    const flags = { v: '4' };
    const one = withRun(RECORD, 'kube-apiserver-1', { run: { ...RUN, flags }, image: IMAGE, at: NOW });
    expect(runningRecord(one, 'kube-apiserver').settings.apiServer).toEqual({});
    expect(runningRecord(one, 'kube-apiserver-1').settings.apiServer).toEqual(flags);
    const quota = { version: 'v3.6.8', flags: { 'quota-backend-bytes': String(1024 ** 3) } };
    const other = withRun(RECORD, 'etcd-1', { run: quota, image: IMAGE, at: NOW });
    expect(runningRecord(other, 'etcd').settings.quotaMiB).toBe(RECORD.settings.quotaMiB);
    expect(runningRecord(other, 'etcd-1').settings.quotaMiB).toBe(1024);
  });

  it('stays when something else is settled', () => {
    const after = withSettled(CHANGED, { ...settledOf(CHANGED), version: 'v1.37.0' });
    expect(recordedRun(after, 'kube-scheduler')).toEqual(RUN);
    expect(recordedRun(after, 'kube-controller-manager')?.version).toBe('v1.37.0');
  });

  it('of our own controllers is their image, and unknown before one is recorded', () => {
    expect(recordedRun(RECORD, 'kubenode-controllers')).toBeUndefined();
    const started = withStart(RECORD, 'kubenode-controllers', { at: NOW, image: IMAGE });
    expect(recordedRun(started, 'kubenode-controllers')).toEqual({ flags: {}, image: IMAGE });
  });
});

describe('the digest of what a pod is made from', () => {
  it.each([
    ['version', { ...RUN, version: 'v1.37.1' }],
    ['flags', { ...RUN, flags: {} }],
    ['requests', { ...RUN, requests: {} }],
  ])('differs with the %s', (_, run) => {
    expect(runDigest(run, IMAGE)).not.toBe(runDigest(RUN, IMAGE));
  });

  it('differs with the image, and not with requests that are not chosen', () => {
    expect(runDigest(RUN, `${IMAGE}0`)).not.toBe(runDigest(RUN, IMAGE));
    const { version, flags } = RUN;
    expect(runDigest({ version, flags }, IMAGE)).toBe(runDigest({ ...RUN, requests: {} }, IMAGE));
  });

  it('is unknown where a hosting recorded no image', () => {
    expect([recordedDigest(RECORD, 'kube-scheduler'), recordedDigest(CHANGED, 'kube-scheduler')]).toEqual([
      undefined,
      runDigest(RUN, IMAGE),
    ]);
  });
});
