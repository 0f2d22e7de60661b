import { describe, expect, it } from 'vitest';
import {
  type LoggedXid,
  mergeXids,
  normalizeAddress,
  parseOldestEntry,
  parseXids,
  reportXids,
} from '../../../src/agent/facts/xid.ts';

const [NOW, AT] = [new Date('2030-01-01T12:00:00Z'), new Date('2030-01-01T11:59:00Z')];

function entry(MESSAGE: unknown, usec: unknown = `${AT.getTime()}000`): string {
  return JSON.stringify({ __CURSOR: 's=1', __REALTIME_TIMESTAMP: usec, MESSAGE });
}

describe('parseXids', () => {
  // The first three follow lines in public bug reports; the others were written in their form.
  it.each([
    [
      "NVRM: Xid (PCI:0000:01:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
      '79 0000:01:00',
    ],
    [
      "NVRM: Xid (PCI:0000:cb:00): 13, pid='<unknown>', name=<unknown>, Graphics SM Warp Exception on (GPC 7, TPC 0)",
      '13 0000:cb:00',
    ],
    [
      'NVRM: Xid (PCI:0000:01:00): 120, GSP kernel exception: store access page fault (cause:0xf)',
      '120 0000:01:00',
    ],
    [
      'NVRM: Xid (PCI:0000:18:00): 119, pid=1234, name=python, Timeout after 45s of waiting for RPC response from GPU0 GSP!',
      '119 0000:18:00',
    ],
    ['NVRM: Xid (0000:03:00): 31, Ch 00000010, engmask 00000101, intr 10000000', '31 0000:03:00'],
    ['NVRM: Xid (PCI:0000:3B:00.0): 48, pid=77, An uncorrectable double bit error', '48 0000:3b:00'],
    ['NVRM: Xid (PCI:0000:07:00 GPU-I:05): 94, pid=77, Contained', '94 0000:07:00'],
  ])('reads %s', (line, expected) => {
    expect(parseXids(entry(line)).map(({ code, address }) => `${code} ${address}`)).toEqual([expected]);
  });

  it.each([
    ['a line of a switch', entry('nvidia-nvswitch1: SXid (PCI:0000:06:00.0): 20034, Fatal, Link 30')],
    ['a line that follows', entry('NVRM: GPU 0000:91:00.0: GPU has fallen off the bus.')],
    ['a line that quotes one', entry('audit: NVRM: Xid (PCI:0000:01:00): 79, x')],
    ['an invalid address', entry('NVRM: Xid (PCI:0000:01:zz): 79, x')],
    ['a message of bytes', entry([78, 86])],
    ['no time', entry('NVRM: Xid (PCI:0000:01:00): 79, x', 'soon')],
    ['no JSON', 'NVRM: Xid (PCI:0000:01:00): 79, x'],
    ['JSON of a number', '79'],
    ['nothing', ''],
  ])('passes over %s', (_, line) => {
    expect(parseXids(line)).toEqual([]);
  });
});

it.each([
  ['00000000:3B:00.0', '0000:3b:00'],
  ['0000:3b:00', '0000:3b:00'],
  ['00010000:3B:00.0', '10000:3b:00'],
  ['10000:3b:00.0', '10000:3b:00'],
])('writes the address %s as the kernel log does: %s', (bus, address) => {
  expect(normalizeAddress(bus)).toBe(address);
});

describe('parseOldestEntry', () => {
  it('returns the first entry of all boots', () => {
    const boots = ` -1 6f3c Fri 2029-12-30 08:00:00 UTC—Mon 2029-12-31 09:00:00 UTC
  0 7a1b Mon 2029-12-31 09:01:00 UTC—Tue 2030-01-01 11:00:00 UTC`;
    expect(parseOldestEntry(boots)).toEqual(new Date('2029-12-30T08:00:00Z'));
    expect(parseOldestEntry('no boots')).toBeUndefined();
  });
});

function logged(code: number, address: string, minutes: number): LoggedXid {
  return { code, address, at: new Date(NOW.getTime() - minutes * 60_000) };
}

describe('reportXids', () => {
  const since = new Date('2029-12-31T00:00:00Z');
  const gpus = ['0000:cb:00.0', '0000:3b:00.0'];
  const resets = new Map<string, Date>();

  it('numbers the GPUs in the order of their addresses, newest error first', () => {
    const report = reportXids({
      logged: [logged(48, '0000:cb:00', 9), logged(79, '0000:3b:00', 2)],
      resets,
      gpus,
      since,
      now: NOW,
    });
    expect(report.xid.map(({ code, gpu }) => `${code} ${gpu}`)).toEqual(['79 0', '48 1']);
    expect(report.xidSince).toBe(since.toISOString());
  });

  it('keeps the number of others when the driver does not know one any more', () => {
    const report = reportXids({
      logged: [logged(79, '0000:01:00', 2), logged(79, '0000:3b:00', 3)],
      resets,
      gpus,
      since,
      now: NOW,
    });
    expect(report.xid.map(({ gpu }) => gpu)).toEqual([2, 0]);
  });

  it('R1 tells which errors a reset of their GPU has ended, and keeps them', () => {
    const report = reportXids({
      logged: [logged(48, '0000:3b:00', 1), logged(48, '0000:3b:00', 9), logged(48, '0000:cb:00', 9)],
      resets: new Map([['0000:3b:00', new Date(NOW.getTime() - 300_000)]]),
      gpus,
      since,
      now: NOW,
    });
    expect(report.xid.map(({ gpu, reset }) => `${gpu} ${reset}`)).toEqual([
      '0 undefined',
      '0 true',
      '1 undefined',
    ]);
  });

  it('R1 covers a week at most, and no time of which an error is left out', () => {
    const old = reportXids({
      logged: [logged(79, '0000:3b:00', 60 * 24 * 8)],
      resets,
      gpus,
      since: new Date(0),
      now: NOW,
    });
    expect(old).toEqual({ xid: [], xidSince: '2029-12-25T12:00:00.000Z' });
    const many = Array.from({ length: 40 }, (_, index) => logged(31, '0000:3b:00', index));
    const full = reportXids({ logged: many, resets, gpus, since, now: NOW });
    expect(full.xid).toHaveLength(32);
    expect(Date.parse(full.xidSince)).toBe(NOW.getTime() - 32 * 60_000 + 1);
    expect([full.xidCutCodes, full.xidOthersSince]).toEqual([[31], since.toISOString()]);
  });

  it('R1 keeps the last errors of each code, however many of another one follow', () => {
    const burst = Array.from({ length: 900 }, (_, index) => logged(31, '0000:3b:00', index / 60));
    const fell = [logged(79, '0000:cb:00', 300), logged(79, '0000:cb:00', 301)];
    const report = reportXids({ logged: [...burst, ...fell], resets, gpus, since, now: NOW });
    expect(report.xid).toHaveLength(32);
    expect(report.xid.slice(-2).map(({ code, gpu }) => `${code} ${gpu}`)).toEqual(['79 1', '79 1']);
    expect(report.xidCutCodes).toEqual([31]);
    expect(Date.parse(report.xidSince)).toBe(NOW.getTime() - 30_000 + 1);
    expect(report.xidOthersSince).toBe(since.toISOString());
  });

  it('R1 names no code as whole when more codes are cut than the status has room for', () => {
    const all = Array.from({ length: 80 }, (_, index) => logged(index, '0000:3b:00', index));
    const report = reportXids({ logged: all, resets, gpus, since, now: NOW });
    expect(report).toMatchObject({ xidSince: new Date(NOW.getTime() - 32 * 60_000 + 1).toISOString() });
    expect(report).not.toHaveProperty('xidCutCodes');
    expect(report).not.toHaveProperty('xidOthersSince');
  });
});

describe('mergeXids', () => {
  it('keeps each error once, and none that is older than a week', () => {
    const one = { code: 79, address: '0000:3b:00', at: AT };
    const old = { ...one, at: new Date('2029-12-01T00:00:00Z') };
    expect(
      mergeXids(
        [one, old],
        [
          { ...one, at: new Date(AT) },
          { ...one, code: 48 },
        ],
        NOW,
      ).map(({ code }) => code),
    ).toEqual([79, 48]);
  });

  it('keeps the newest thousand, in whatever order they are read', () => {
    const many = Array.from({ length: 1200 }, (_, index) => logged(31, '0000:3b:00', index / 60));
    const kept = mergeXids(many.slice(0, 600).toReversed(), many.slice(600), NOW);
    expect(kept.map(({ at }) => at)).toEqual(many.slice(0, 1000).map(({ at }) => at));
  });

  it('keeps the last error of each code before the newest thousand', () => {
    const many = Array.from({ length: 1200 }, (_, index) => logged(31, '0000:3b:00', index / 60));
    const fell = logged(79, '0000:3b:00', 300);
    const kept = mergeXids([fell], many, NOW);
    expect([kept.length, kept.at(-1)]).toEqual([1000, fell]);
  });
});
