import { describe, expect, it } from 'vitest';
import {
  type BootstrapTokenRecord,
  formatTokenRecord,
  tokenRecordOf,
} from '../../../src/api/secrets/bootstrap-token.ts';

const record: BootstrapTokenRecord = {
  id: 'abc123',
  secretUid: 'secret-1',
  expiresAt: '2026-11-20T07:05:05Z',
  epoch: 1,
  replacesAgent: true,
};

function machineWith(text: string | undefined): {
  metadata: { name: string; annotations?: Record<string, string> };
} {
  return {
    metadata: {
      name: 'n17',
      ...(text === undefined ? {} : { annotations: { 'kubenode.dev/bootstrap-token': text } }),
    },
  };
}

describe('tokenRecordOf', () => {
  it('reads what formatTokenRecord writes, with and without a Secret', () => {
    const { secretUid: _, ...deleted } = record;
    for (const each of [record, deleted]) {
      expect(tokenRecordOf(machineWith(formatTokenRecord(each)))).toEqual(each);
    }
  });

  it.each([
    ['no record', undefined],
    ['text', 'abc123'],
    ['a list', '[]'],
    ['a record without an epoch', JSON.stringify({ ...record, epoch: undefined })],
    ['a record whose epoch is text', JSON.stringify({ ...record, epoch: '1' })],
    ['a record without an id', JSON.stringify({ ...record, id: undefined })],
    ['a record that does not say what it replaces', JSON.stringify({ ...record, replacesAgent: 1 })],
    ['a record whose UID is a number', JSON.stringify({ ...record, secretUid: 1 })],
  ])('reads %s as no token', (_, text) => {
    expect(tokenRecordOf(machineWith(text))).toBeUndefined();
  });
});
