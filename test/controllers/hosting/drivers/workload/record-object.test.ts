import { describe, expect, it } from 'vitest';
import { begunAttempt } from '../../../../../src/controllers/hosting/drivers/attempts.ts';
import { attemptOf, withAttempt } from '../../../../../src/controllers/hosting/drivers/workload/record.ts';
import {
  parseWorkloadRecord,
  recordObject,
} from '../../../../../src/controllers/hosting/drivers/workload/record-object.ts';
import type { KubeObject } from '../../../../../src/kube/objects/object.ts';
import { NOW } from '../../../../support/builders.ts';
import { planeRecord } from '../../../../support/hosting/workload.ts';

function errorOf(object: KubeObject): unknown {
  try {
    return parseWorkloadRecord(object);
  } catch (error) {
    return error;
  }
}

describe('the ConfigMap with the record of a control plane', () => {
  const record = planeRecord();

  it('is read as it was written', () => {
    expect(parseWorkloadRecord(recordObject(record))).toEqual(record);
    expect(recordObject(record, '7').metadata.resourceVersion).toBe('7');
  });

  it.each([
    ['is cut off', '{'],
    ['lacks fields', '{"format":1}'],
  ])('is refused when it %s, with what to do', (_name, text) => {
    const damaged = { ...recordObject(record), data: { 'record.json': text } };
    expect(() => parseWorkloadRecord(damaged)).toThrow('is not a valid record');
    expect(() => parseWorkloadRecord({ ...damaged, data: {} })).toThrow('is not a valid record');
  });

  it.each([
    ['of a later format', '{"format":2}'],
    ['with a field of a later version', JSON.stringify({ ...record, flavor: 'new' })],
    [
      'with a field of a member of a later version',
      JSON.stringify({ ...record, members: { etcd: { isRunning: true, starts: [], flavor: 'new' } } }),
    ],
  ])('HOS-06 names the later version that wrote one %s, and advises to delete nothing', (_name, text) => {
    const later = { ...recordObject(record), data: { 'record.json': text } };
    expect(errorOf(later)).toMatchObject({
      code: 'CorruptRecord',
      message: expect.stringContaining('was written by a later version of hosting') as string,
      hint: expect.not.stringMatching(/delet/) as string,
    });
  });

  it('HOS-31 keeps the time of a snapshot where an earlier hosting neither reads nor refuses it', () => {
    const taken = { ...record, snapshot: { takenAt: '2030-01-01T12:00:00.000Z' } };
    const object = recordObject(taken);
    expect(parseWorkloadRecord(object)).toEqual(taken);
    const { data } = object as unknown as { data: Record<string, string> };
    expect(JSON.parse(data['record.json'] ?? '')).toEqual(record);
    expect(parseWorkloadRecord({ ...object, data: { ...data, 'notes.json': '{' } })).toEqual(record);
    const former = { ...object, data: { 'record.json': JSON.stringify(taken) } };
    expect(parseWorkloadRecord(former)).toEqual(taken);
  });

  it('HOS-33 reads each note by itself, also with fields of a later version', () => {
    const object = recordObject(withAttempt(record, 'backup', { at: NOW }));
    const { data } = object as unknown as { data: Record<string, string> };
    const notes = {
      snapshot: { takenAt: 'yesterday' },
      attempts: { backup: { at: NOW.toISOString(), flavor: 'new' }, flavor: {} },
      restored: '000001-20300101T000000Z',
    };
    const parsed = parseWorkloadRecord({ ...object, data: { ...data, 'notes.json': JSON.stringify(notes) } });
    expect([parsed.snapshot, attemptOf(parsed, 'backup'), parsed.restored]).toEqual([
      undefined,
      { at: NOW },
      notes.restored,
    ]);
  });

  it('HOS-33 keeps attempts at the upkeep of etcd where an earlier hosting drops them', () => {
    const begun = begunAttempt({ at: NOW, problem: 'no room', since: NOW }, NOW);
    const noted = withAttempt(record, 'space', begun);
    const object = recordObject(noted);
    const { data } = object as unknown as { data: Record<string, string> };
    expect(JSON.parse(data['record.json'] ?? '')).toEqual(record);
    expect(attemptOf(parseWorkloadRecord(object), 'space')).toEqual(begun);
    expect(attemptOf(record, 'space')).toBeUndefined();
  });
});
