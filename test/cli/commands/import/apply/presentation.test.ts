import { describe, expect, it } from 'vitest';
import {
  formatProgress,
  IMPORT_PRESENTATION,
} from '../../../../../src/cli/commands/import/apply/presentation.ts';
import type {
  ImportProgress,
  MachineProgress,
} from '../../../../../src/cli/commands/import/apply/progress.ts';

const NOW = new Date('2030-01-01T00:00:00Z');
const n1: MachineProgress = { machine: 'n1', host: 'root@n1:22', state: 'Importing', step: 'Connecting' };
const n2: MachineProgress = {
  machine: 'n2',
  host: 'root@n2:22',
  state: 'Failed',
  step: 'Connecting',
  reason: 'HostKeyMismatch',
  message: 'the host has another key',
};

describe('IMPORT_PRESENTATION', () => {
  it('lists each machine first, and then what changed', () => {
    expect(changes(undefined, { machines: [n1, n2] })).toEqual([
      'n1: Connecting',
      'n2: Failed: HostKeyMismatch: the host has another key',
      '2 machines: 1 Importing, 1 Failed',
    ]);
    const before = { machines: [n1, n2] };
    expect(changes(before, before)).toEqual([]);
    expect(changes(before, { machines: [{ ...n1, step: 'Preflight' }, n2] })).toEqual(['n1: Preflight']);
    expect(changes(before, { machines: [{ ...n1, state: 'Ready', step: 'Ready' }, n2] })).toEqual([
      'n1: Ready',
      '2 machines: 1 Ready, 1 Failed',
    ]);
  });

  it('puts first what needs a person', () => {
    const lines = IMPORT_PRESENTATION.frame({ machines: [n1, n2] }, NOW, { columns: 60, rows: 10 });
    expect(lines.map(({ text, tone }) => [text.slice(0, 2), tone])).toEqual([
      ['2 ', undefined],
      ['n2', 'bad'],
      ['n1', 'busy'],
    ]);
    expect(lines.every(({ text }) => text.length <= 60)).toBe(true);
    expect(formatProgress({ machines: [n1, n2] }, 80)).toMatch(/n2 .*root@n2:22 .*Failed/);
  });
});

function changes(before: ImportProgress | undefined, after: ImportProgress): readonly string[] {
  return IMPORT_PRESENTATION.changes(before, after, NOW);
}
