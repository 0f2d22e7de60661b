import { describe, expect, it } from 'vitest';
import { MAX_REPORT_BYTES, readReport } from '../../../../src/controllers/hostdoctor/report/parse.ts';
import { hardwareReport } from './reports.ts';

const read = (changes: object): ReturnType<typeof readReport> =>
  readReport(JSON.stringify({ ...hardwareReport(), ...changes }));

describe('readReport', () => {
  it('reads the fields of an event, without a provider', () => {
    const { hint: _, ...short } = hardwareReport();
    expect(readReport(JSON.stringify(short))).toEqual({ report: hardwareReport() });
    const whole = {
      cause: 'fan',
      confidencePercent: 90,
      details: 'x'.repeat(1024),
      hint: true,
      ttlSeconds: 60,
    };
    expect(read(whole)).toEqual({ report: hardwareReport(whole) });
  });

  it('reads one moment in two notations as the same report', () => {
    expect(read({ notBefore: '2030-01-01T15:00:00.5+02:00' })).toEqual({ report: hardwareReport() });
  });

  it.each([
    ['nothing', '', 'expected a JSON object'],
    ['half a file', '{"eventID":"psu-7","mach', 'expected a JSON object'],
    ['a list', '[{}]', 'expected a JSON object'],
    ['null', 'null', 'expected a JSON object'],
    ['an empty object', '{}', 'eventID: is required'],
  ])('refuses %s', (_, text, problem) => {
    expect(readReport(text)).toEqual({ problem: expect.stringContaining(problem) as string });
  });

  it.each([
    ['a provider', { provider: 'aws' }, 'remove the field provider'],
    ['an unknown field', { machin: 'm-2' }, 'machin: unknown field'],
    ['a field of JavaScript', JSON.parse('{"__proto__": {"machine": "m-2"}}') as object, '__proto__'],
    ['an unknown type', { type: 'Explosion' }, 'type: '],
    ['an unknown state', { state: 'scheduled' }, 'state: '],
    ['a text that is not a time', { notBefore: 'tomorrow' }, 'notBefore: '],
    ['a long id', { eventID: 'x'.repeat(129) }, 'eventID: '],
    ['an empty machine', { machine: '' }, 'machine: '],
    ['a number as machine', { machine: 7 }, 'machine: '],
    ['long details', { details: 'x'.repeat(1025) }, 'details: '],
  ])('refuses %s by its path', (_, changes, problem) => {
    expect(read(changes)).toEqual({ problem: expect.stringContaining(problem) as string });
  });

  it('names five problems of fifty', () => {
    const fields = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`field${index}`, 1]));
    const answer = read(fields);
    expect('problem' in answer && answer.problem.split('; ')).toHaveLength(5);
  });

  it('has room for all fields at their longest', () => {
    const fields = {
      eventID: '\u0001'.repeat(128),
      details: '\u0001'.repeat(1024),
      cause: '\u0001'.repeat(64),
    };
    expect(JSON.stringify(hardwareReport(fields)).length).toBeLessThan(MAX_REPORT_BYTES / 2);
  });
});
