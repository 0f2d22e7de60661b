import { describe, expect, it } from 'vitest';
import { openSwitch } from '../../../../../src/controllers/remedyjob/execute/power/open-switch.ts';
import { createMemoryPower, type WayFault } from '../../../../support/memory-power.ts';
import { jobMachine, later } from '../../jobs.ts';

const WAYS = ['BMC', 'Provider'] as const;
const SILENT: WayFault = { silent: 'Retryable' };
const NONE: WayFault = { none: 'no switch' };
const NO_ANSWER = 'of machine m: the switch does not answer';

describe('openSwitch', () => {
  it.each<[name: string, faults: [WayFault, WayFault], passesSilent: boolean, expected: string]>([
    ['the first way that reads', [{}, {}], true, 'Read BMC: '],
    ['a silent way is waited for', [SILENT, {}], false, `Silent: BMC ${NO_ANSWER}`],
    ['a silent way that had its time is passed', [SILENT, {}], true, `Read Provider: BMC ${NO_ANSWER}`],
    ['two silent ways', [SILENT, SILENT], true, `Silent: BMC ${NO_ANSWER}; Provider ${NO_ANSWER}`],
    [
      'a silent way and none',
      [SILENT, NONE],
      true,
      `Silent: BMC ${NO_ANSWER}; Provider of machine m: no switch`,
    ],
    [
      'none and a silent way',
      [NONE, SILENT],
      false,
      `Silent: BMC of machine m: no switch; Provider ${NO_ANSWER}`,
    ],
    ['none', [NONE, NONE], false, 'None: BMC of machine m: no switch; Provider of machine m: no switch'],
    ['a way that refuses to read', [{ silent: 'Auth' }, {}], false, `Read Provider: BMC ${NO_ANSWER}`],
  ])(
    'R31 finds the switch, and why others were passed: %s',
    async (_, [bmc, provider], passesSilent, expected) => {
      const power = createMemoryPower({ clock: { now: () => new Date(later(0)) } });
      Object.assign(power.faults, { BMC: bmc, Provider: provider });
      const { signal } = new AbortController();
      const opened = await openSwitch(power, jobMachine(), { ways: WAYS, passesSilent }, signal);
      const text =
        opened.type === 'Read'
          ? `Read ${opened.power.way}: ${opened.passed ?? ''}`
          : `${opened.type}: ${opened.because}`;
      expect(text).toBe(expected);
    },
  );
});
