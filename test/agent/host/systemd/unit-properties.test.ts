import { describe, expect, it } from 'vitest';
import {
  parseTimestamp,
  parseUnits,
  resultText,
  type UnitProperties,
} from '../../../../src/agent/host/systemd/unit-properties.ts';

const RUNNING = {
  Id: 'a.service',
  LoadState: 'loaded',
  ActiveState: 'active',
  NeedDaemonReload: 'no',
  MainPID: '42',
  ExecMainStartTimestamp: 'Sat 2026-11-21 07:27:23 UTC',
  InactiveEnterTimestamp: '',
  ExecMainCode: '0',
  ExecMainStatus: '0',
  NRestarts: '2',
  Result: 'success',
};

function block(fields: Partial<typeof RUNNING> = {}): string {
  return Object.entries({ ...RUNNING, ...fields })
    .map(([name, value]) => `${name}=${value}`)
    .join('\n');
}

function parse(fields: Partial<typeof RUNNING>, state = 'enabled'): UnitProperties | undefined {
  return parseUnits(block(fields), JSON.stringify([{ unit_file: 'a.service', state }])).get('a.service');
}

describe('parseUnits', () => {
  it('reads each unit of the answer, and finds its file among all', () => {
    const shown = [block(), block({ Id: 'b.service', ActiveState: 'inactive', MainPID: '0' })].join('\n\n');
    const files = JSON.stringify([{ unit_file: 'b.service', state: 'masked', preset: null }]);
    const units = parseUnits(`${shown}\n`, files);
    expect(units.get('a.service')).toEqual({
      exists: true,
      active: 'Active',
      needsReload: false,
      mainPid: 42,
      startedAt: '2026-11-21T07:27:23.000Z',
      restarts: 2,
      reason: 'success',
    });
    expect(units.get('b.service')).toMatchObject({ active: 'Inactive', fileState: 'masked' });
    expect(units.get('b.service')).not.toHaveProperty('mainPid');
  });

  it('reads the table of a systemd before 247, which prints no JSON', () => {
    const table = `UNIT FILE     STATE\na.service     masked-runtime\nb.service     enabled\n\n2 unit files listed.\n`;
    expect(parseUnits(block(), table).get('a.service')).toMatchObject({ fileState: 'masked-runtime' });
    expect(parseUnits(block(), 'UNIT FILE STATE\n\n0 unit files listed.\n').get('a.service')).toEqual(
      expect.not.objectContaining({ fileState: expect.anything() as unknown }),
    );
  });

  it.each([
    ['active', 'Active'],
    ['reloading', 'Active'],
    ['activating', 'Activating'],
    ['deactivating', 'Deactivating'],
    ['failed', 'Failed'],
    ['inactive', 'Inactive'],
    ['a state of a later systemd', 'Inactive'],
  ])('takes %s for %s', (state, expected) => {
    expect(parse({ ActiveState: state })?.active).toBe(expected);
  });

  it('has no unit without a definition, unless its process still runs', () => {
    const without = { LoadState: 'not-found', MainPID: '0' };
    expect(parseUnits(block({ ...without, ActiveState: 'inactive' }), '[]').get('a.service')?.exists).toBe(
      false,
    );
    expect(parseUnits(block(without), '[]').get('a.service')?.exists).toBe(true);
    // Written since systemd looked.
    expect(parse({ ...without, ActiveState: 'inactive' })?.exists).toBe(true);
  });

  it.each([
    ['1', '3', 'exit code 3'],
    ['2', '15', 'SIGTERM'],
    ['3', '11', 'SIGSEGV'],
    ['2', '99', 'signal 99'],
    ['0', '0', undefined],
  ])('reads exit %s/%s as %s', (ExecMainCode, ExecMainStatus, expected) => {
    expect(parse({ ExecMainCode, ExecMainStatus })?.exit).toBe(expected);
  });
});

describe('resultText', () => {
  const service = { type: 'Service', timeoutSeconds: 7 } as const;

  it.each<[string, Partial<typeof RUNNING>, 'Service' | 'OneShot', string | undefined]>([
    [
      'the exit code',
      { ExecMainCode: '1', ExecMainStatus: '3', Result: 'exit-code' },
      'Service',
      'exit code 3',
    ],
    ['the reason of systemd without a process', { Result: 'start-limit-hit' }, 'Service', 'start-limit-hit'],
    ['the time limit of a OneShot', { Result: 'timeout' }, 'OneShot', 'no end within 7 s'],
    ['nothing before the first run', {}, 'Service', undefined],
  ])('gives %s', (_, fields, type, expected) => {
    expect(resultText(parse(fields) as UnitProperties, { ...service, type })).toBe(expected);
  });
});

it('reads only timestamps in UTC', () => {
  expect(parseTimestamp('Sat 2026-11-21 07:27:23 UTC')).toBe('2026-11-21T07:27:23.000Z');
  expect(parseTimestamp('Sat 2026-11-21 07:27:23 CET')).toBeUndefined();
  expect(parseTimestamp('')).toBeUndefined();
});
