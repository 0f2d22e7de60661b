import { describe, expect, it } from 'vitest';
import type { CommandAnswer, RunCommand } from '../../../../src/agent/host/systemd/commands.ts';
import { UnitReader } from '../../../../src/agent/host/systemd/unit-reader.ts';

const FOUND = 'Id=a.service\nLoadState=loaded\nActiveState=active\n';

function answer(fields: Partial<CommandAnswer> = {}): CommandAnswer {
  return { exitCode: 0, stdout: '', stderr: '', ...fields };
}

function reader(show: CommandAnswer = answer({ stdout: FOUND })): {
  units: UnitReader;
  asked: string[];
  advance: (ms: number) => void;
} {
  let nowMs = 0;
  const asked: string[] = [];
  const run: RunCommand = async (argv) => {
    asked.push(argv.slice(argv.indexOf('--') + 1).join(' '));
    return argv[1] === 'show' ? show : answer({ exitCode: 1, stdout: '[]' });
  };
  return {
    units: new UnitReader(run, { monotonicMs: () => nowMs }),
    asked,
    advance: (ms) => void (nowMs += ms),
  };
}

describe('UnitReader', () => {
  it('AGT-01 asks once for all units that it knows, and again after a moment or a change', async () => {
    const { units, asked, advance } = reader();
    await units.read('a');
    await units.read('b');
    asked.length = 0;
    await units.read('a');
    await units.read('b');
    expect(asked).toEqual([]);
    advance(300);
    await units.read('a');
    expect(asked).toEqual(['a.service b.service', 'a.service b.service']);
    units.forget();
    await units.read('a');
    expect(asked).toHaveLength(4);
  });

  it('has nothing of a unit that the answer does not name', async () => {
    expect((await reader().units.read('a'))?.active).toBe('Active');
    expect(await reader().units.read('none')).toBeUndefined();
  });

  it('takes a systemd that does not answer for unknown, and not for a missing unit', async () => {
    const { units } = reader(answer({ exitCode: 1, stderr: 'Failed to connect to bus: No such file\nmore' }));
    await expect(units.read('a')).rejects.toMatchObject({
      code: 'NoAccess',
      message: 'systemd does not answer: Failed to connect to bus: No such file',
    });
  });
});
