import { describe, expect, it } from 'vitest';
import { newRotation } from '../../../../../src/controllers/hosting/drivers/authorities/record.ts';
import { settledOf } from '../../../../../src/controllers/hosting/drivers/workload/differences.ts';
import {
  startsOf,
  withApiServers,
  withCorrectedStart,
  withRestart,
  withRun,
  withRunning,
  withSeal,
  withSettled,
  withStart,
  withStop,
} from '../../../../../src/controllers/hosting/drivers/workload/record.ts';
import {
  parseWorkloadRecord,
  recordObject,
} from '../../../../../src/controllers/hosting/drivers/workload/record-object.ts';
import { NOW } from '../../../../support/builders.ts';
import { IMAGE, planeRecord } from '../../../../support/hosting/workload.ts';

const OTHER = `registry.example/other@sha256:${'b'.repeat(64)}`;
const RUN = { version: 'v1.36.4', flags: { v: '4' } };

function later(ms: number): Date {
  return new Date(+NOW + ms);
}

describe('the record of a control plane of pods', () => {
  const record = planeRecord();

  it('counts a start once until the member is stopped, and keeps the last ten', () => {
    const started = withStart(record, 'etcd', { at: NOW, image: IMAGE });
    expect(withStart(started, 'etcd', { at: later(1), image: OTHER })).toBe(started);
    expect(startsOf(started, 'etcd')).toEqual([NOW]);
    let last = started;
    for (let time = 1; time <= 12; time += 1) {
      last = withStart(withStop(last, 'etcd'), 'etcd', { at: later(time), image: IMAGE });
    }
    expect(startsOf(last, 'etcd').map((at) => +at - +NOW)).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    expect(startsOf(last, 'kube-apiserver')).toEqual([]);
  });

  it('HOS-22 records a restart once for a phase, when its Secrets are written, with the image that runs', () => {
    const rotation = { ...newRotation('2026', 7), isApplied: true };
    const running = withRunning(
      withStop(withStart(record, 'etcd', { at: NOW, image: IMAGE }), 'etcd'),
      'etcd',
    );
    const { image: _, ...former } = running.members.etcd ?? { isRunning: true, starts: [] };
    const before = { ...running, members: { etcd: former } };
    const at = { at: later(1), image: OTHER };
    expect(withRestart({ ...before, rotation: newRotation('2026', 7) }, 'etcd', at).members).toBe(
      before.members,
    );
    const restarted = withRestart({ ...before, rotation }, 'etcd', at);
    expect(restarted.members.etcd).toEqual({
      isRunning: true,
      starts: [later(1).toISOString()],
      image: OTHER,
      phase: 7,
    });
    expect(withRestart(restarted, 'etcd', { ...at, at: later(2) })).toBe(restarted);
    expect(withRestart(restarted, 'kube-scheduler', at)).toBe(restarted);
    // When the rotation is over, a start keeps the phase: the pod is made from it.
    const over = { ...restarted, rotation: { ...rotation, phase: 'Completed' as const } };
    const again = withStart(withStop(over, 'etcd'), 'etcd', { at: later(3), image: OTHER });
    expect(again.members.etcd?.phase).toBe(7);
  });

  it('records a change once, with its start, and forgets the starts before it', () => {
    const started = withStart(record, 'etcd', { at: NOW, image: IMAGE });
    const changed = withRun(started, 'etcd', { run: RUN, image: OTHER, at: later(1) });
    expect(changed.members.etcd).toEqual({
      isRunning: true,
      starts: [later(1).toISOString()],
      run: RUN,
      image: OTHER,
    });
    expect(withRun(changed, 'etcd', { run: RUN, image: OTHER, at: later(2) })).toBe(changed);
    expect(startsOf(withCorrectedStart(changed, 'etcd', later(3)), 'etcd')).toEqual([later(1), later(3)]);
    expect(parseWorkloadRecord(recordObject(changed))).toEqual(changed);
  });

  it('records no start of a member that is changed while it does not run', () => {
    const changed = withRun(record, 'etcd', { run: RUN, image: OTHER, at: NOW });
    expect(changed.members.etcd).toMatchObject({ isRunning: false, starts: [], image: OTHER });
  });

  it('records that a member runs which hosting did not stop although it recorded it', () => {
    const started = withStart(record, 'etcd', { at: NOW, image: IMAGE });
    expect(withRunning(withStop(started, 'etcd'), 'etcd')).toEqual(started);
    expect(withRunning(started, 'etcd')).toBe(started);
    expect(withRunning(record, 'etcd')).toBe(record);
  });

  it('has the image of our own controllers from their first start, or from before their first change', () => {
    const at = NOW;
    const started = withStart(record, 'kubenode-controllers', { at, image: IMAGE });
    expect(started.controllers).toBe(IMAGE);
    const run = { flags: {}, image: OTHER };
    expect(withRun(started, 'kubenode-controllers', { run, image: OTHER, at }).controllers).toBe(IMAGE);
    const change = { run, image: OTHER, at, controllers: IMAGE };
    expect(withRun(record, 'kubenode-controllers', change).controllers).toBe(IMAGE);
  });

  it('names the image of a member that an earlier version of hosting started, and has it sealed once', () => {
    const before = { ...record, members: { etcd: { isRunning: true, starts: [] } } };
    const sealed = withSeal(before, IMAGE);
    expect([sealed.isSealed, sealed.members.etcd?.image]).toEqual([true, IMAGE]);
    expect(withSeal(sealed, OTHER)).toBe(sealed);
    expect(withStart(before, 'etcd', { at: NOW, image: IMAGE }).members.etcd?.image).toBe(IMAGE);
  });

  it('has what was settled, and keeps size and address', () => {
    const settled = { ...settledOf(record), version: 'v1.36.4', controllers: OTHER };
    const requests = { 'kube-scheduler': { memoryMiB: 96 } };
    const after = withSettled(record, { ...settled, requests });
    expect(settledOf(after)).toEqual({ ...settled, requests });
    expect(after.placement).toEqual({ ...record.placement, requests });
  });

  it('HOS-13 counts API servers, and forgets one that is not counted any more', () => {
    const three = withApiServers(record, 3);
    const started = withStart(three, 'kube-apiserver-2', { at: NOW, image: IMAGE });
    expect(parseWorkloadRecord(recordObject(started)).apiServers).toBe(3);
    expect(withApiServers(started, 3)).toEqual(started);
    expect(withApiServers(started, 2).members).toEqual({});
    // With one it is what an earlier hosting reads.
    expect(withApiServers(started, 1)).toEqual(record);
    expect([planeRecord({ replicas: 2 }).apiServers, 'apiServers' in record]).toEqual([2, false]);
  });

  it('changes nothing for a stop of a member that is not to run', () => {
    expect(withStop(record, 'etcd')).toBe(record);
    expect(startsOf(undefined, 'etcd')).toEqual([]);
  });
});
