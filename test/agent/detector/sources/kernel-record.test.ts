import { describe, expect, it } from 'vitest';
import { parseKernelRecord } from '../../../../src/agent/detector/sources/kernel-record.ts';

describe('kernel record', () => {
  it.each([
    ['6,339,5140900,-;NET: Registered protocol family 10', 339, 5140.9, 'NET: Registered protocol family 10'],
    ['30,340,5690716,-,caller=T1;udevd[80]: a;b \n SUBSYSTEM=acpi', 340, 5690.716, 'udevd[80]: a;b'],
    ['6,0,0,-;', 0, 0, ''],
  ])('has number, time and message: %j', (text, sequence, sinceBootMs, message) => {
    expect(parseKernelRecord(text)).toEqual({ sequence, sinceBootMs, message });
  });

  it.each(['', 'task hung', '6,339;x'])('does not take %j for a record', (text) => {
    expect(parseKernelRecord(text)).toBeUndefined();
  });
});
