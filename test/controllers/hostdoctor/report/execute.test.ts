import { describe, expect, it } from 'vitest';
import type { HardwareReportOutcome } from '../../../../src/controllers/hostdoctor/report/execute.ts';
import type { MaintenanceReport } from '../../../../src/controllers/hostdoctor/report/parse.ts';
import { ApiRefusal } from '../../../../src/sim/api-server/refusal.ts';
import { hardwareReport, type ReportBed, reportBed } from './reports.ts';

async function record(
  bed: ReportBed,
  changes: Partial<MaintenanceReport> = {},
  seconds = 0,
): Promise<string> {
  const now = bed.clock.now();
  const reportedAt = new Date(+now + seconds * 1000);
  return textOf(await bed.recorder.record({ report: hardwareReport(changes), reportedAt, now }));
}

function textOf(outcome: HardwareReportOutcome): string {
  return `${outcome.type}: ${'event' in outcome ? outcome.event : outcome.because}`;
}

describe('createReportRecorder', () => {
  it('R39 records an event once, however often it is reported', async () => {
    const bed = reportBed();
    expect(await record(bed)).toBe('Recorded: local-psu-7');
    expect(await record(bed, {}, 60)).toBe(
      'Unchanged: MaintenanceEvent local-psu-7 has this content already',
    );
    expect(bed.events()).toEqual({ 'local-psu-7': 'psu-7 Scheduled' });
    expect(bed.api.journal.map(({ what, code }) => `${what} ${code}`)).toEqual([
      'create MaintenanceEvent local-psu-7 200',
    ]);
  });

  it('removes a date that is not reported any more', async () => {
    const bed = reportBed();
    await record(bed);
    const { notBefore: _, ...report } = hardwareReport();
    const now = bed.clock.now();
    await bed.recorder.record({ report, reportedAt: new Date(+now + 1000), now });
    expect(bed.read('local-psu-7').spec).not.toHaveProperty('notBefore');
  });

  it('names a machine that does not exist, and records nothing', async () => {
    const bed = reportBed();
    expect(await record(bed, { machine: 'm-9' })).toBe(
      'UnknownMachine: Machine m-9 does not exist: check the field machine',
    );
    expect(bed.events()).toEqual({});
  });

  it('gives an event about two machines an object for each, which stays theirs', async () => {
    const bed = reportBed();
    await record(bed);
    const second = await record(bed, { machine: 'm-2' });
    expect(second).toMatch(/^Recorded: local-psu-7-[0-9a-f]{8}$/);
    expect(await record(bed, { machine: 'm-2', state: 'Executing' }, 1)).toBe(second);
    expect(Object.values(bed.events()).toSorted()).toEqual(['psu-7 Executing', 'psu-7 Scheduled']);
  });

  it('continues the object of a machine when that of the other one was deleted', async () => {
    const bed = reportBed();
    await record(bed);
    const second = await record(bed, { machine: 'm-2' });
    bed.remove('local-psu-7');
    expect(await record(bed, { machine: 'm-2', state: 'Executing' }, 1)).toBe(second);
    expect(Object.values(bed.events())).toEqual(['psu-7 Executing']);
  });

  it('compares again when another process wrote meanwhile, so that the later report counts', async () => {
    const bed = reportBed();
    await record(bed);
    const reports = ['Executing', 'Scheduled', 'Executing'] as const;
    await Promise.all(
      reports.map((state, index) => record(bed, { state }, state === 'Executing' ? 9 : index)),
    );
    expect(bed.events()).toEqual({ 'local-psu-7': 'psu-7 Executing' });
  });

  it('lets two processes create one event, of which the later report counts', async () => {
    const bed = reportBed();
    await Promise.all([record(bed, { state: 'Cancelled' }, 2), record(bed, {}, 1)]);
    await Promise.all([
      record(bed, { machine: 'm-2' }, 1),
      record(bed, { machine: 'm-2', state: 'Cancelled' }, 2),
    ]);
    expect(Object.values(bed.events())).toEqual(['psu-7 Cancelled', 'psu-7 Cancelled']);
  });

  it('ends after some conflicts, and then rejects', async () => {
    const bed = reportBed();
    const conflict = new ApiRefusal(409, 'Conflict', 'the object has been modified');
    for (const _ of [1, 2, 3]) bed.api.refuse(/^create MaintenanceEvent/, conflict);
    expect(await record(bed)).toBe('Recorded: local-psu-7');
    for (const _ of [1, 2, 3, 4]) bed.api.refuse(/^replace MaintenanceEvent/, conflict);
    await expect(record(bed, { state: 'Executing' }, 1)).rejects.toThrow(/has been modified/);
  });

  it('returns what the API server refuses, and rejects when it does not answer', async () => {
    const bed = reportBed();
    bed.api.refuse(/^create/, new ApiRefusal(422, 'Invalid', 'a hint needs ttlSeconds'));
    expect(await record(bed, { hint: true })).toMatch(/^Refused: .*a hint needs ttlSeconds/);
    bed.api.refuse(/^create/, new ApiRefusal(500, 'InternalError', 'not now'));
    await expect(record(bed)).rejects.toThrow(/not now/);
  });
});
