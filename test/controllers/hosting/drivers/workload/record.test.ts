import { describe, expect, it } from 'vitest';
import {
  parseWorkloadRecord,
  recordObject,
  startsOf,
  withStart,
  withStop,
} from '../../../../../src/controllers/hosting/drivers/workload/record.ts';
import { NOW } from '../../../../support/builders.ts';
import { planeRecord } from '../../../../support/hosting/workload.ts';

describe('the record of a control plane of pods', () => {
  const record = planeRecord();

  it('is read as it was written', () => {
    expect(parseWorkloadRecord(recordObject(record))).toEqual(record);
    expect(recordObject(record, '7').metadata.resourceVersion).toBe('7');
  });

  it.each([
    ['is cut off', '{'],
    ['lacks fields', '{"format":1}'],
    ['is of a later format', '{"format":2}'],
  ])('is refused when it %s, with what to do', (_name, text) => {
    const damaged = { ...recordObject(record), data: { 'record.json': text } };
    expect(() => parseWorkloadRecord(damaged)).toThrow('is not a valid record');
    expect(() => parseWorkloadRecord({ ...damaged, data: {} })).toThrow('is not a valid record');
  });

  it('counts a start once until the member is stopped, and keeps the last ten', () => {
    const started = withStart(record, 'etcd', NOW);
    expect(withStart(started, 'etcd', new Date(+NOW + 1))).toBe(started);
    expect(startsOf(started, 'etcd')).toEqual([NOW]);
    let later = started;
    for (let time = 1; time <= 12; time += 1) {
      later = withStart(withStop(later, 'etcd'), 'etcd', new Date(+NOW + time));
    }
    expect(startsOf(later, 'etcd').map((at) => +at - +NOW)).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    expect(startsOf(later, 'kube-apiserver')).toEqual([]);
  });

  it('changes nothing for a stop of a member that is not to run', () => {
    expect(withStop(record, 'etcd')).toBe(record);
    expect(startsOf(undefined, 'etcd')).toEqual([]);
  });
});
