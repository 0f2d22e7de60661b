/** Steps that restart machines. */
import { choice, flag, list } from '../schema.ts';
import { step } from './step.ts';

const VIA = ['Provider', 'BMC'] as const;

const via = list(
  'Ways to reach the power switch, tried in this order.',
  choice('A way.', VIA),
  [1, 2],
).default([...VIA]);
const confirm = flag('Reads the power state back before the step succeeds.').default(true);

export const reboot = step(
  'Reboot',
  'Reboots the machine. Done when the boot ID has changed. Provider and BMC switch it off and on when the agent does not reboot it.',
  { risk: 'Node', executor: 'Agent' },
  {
    via: list(
      'Ways to reboot, tried in this order.',
      choice('A way.', ['Agent', 'SysRq', 'Provider', 'BMC']),
      [1, 4],
    ).default(['Agent']),
  },
);

export const powerOff = step(
  'PowerOff',
  'Switches the machine off.',
  { risk: 'Node', executor: 'Central', undo: { step: 'PowerOn', keep: ['via'] } },
  { via, confirm },
);

export const powerOn = step(
  'PowerOn',
  'Switches the machine on after our own PowerOff.',
  { risk: 'None', executor: 'Central', recovery: true },
  { via },
);

export const powerCycle = step(
  'PowerCycle',
  'Switches the machine off and on.',
  { risk: 'Node', executor: 'Central', undo: { step: 'PowerOn', keep: ['via'] } },
  { via, confirm },
);
