/** Steps that restart machines, or their GPUs. */
import { choice, flag, int, list } from '../schema.ts';
import { step } from './step.ts';

const VIA = ['Provider', 'BMC'] as const;

const via = list(
  'Ways to reach the power switch, tried in this order.',
  choice('A way.', VIA),
  [1, 2],
).default([...VIA]);
const confirm = flag('Reads the power state back before the step succeeds.').default(true);

/** The longest list of codes that a rule counts by the fact `xid`. */
const MAX_CODES = 32;

export const resetGpu = step(
  'ResetGPU',
  'Resets GPUs of NVIDIA with nvidia-smi. Refused while a pod or a process of the host uses a GPU, and without a cordon.',
  { risk: 'Node', executor: 'Agent' },
  {
    gpus: choice('Which GPUs: those with an error since the last boot or reset, or all of the node.', [
      'WithErrors',
      'All',
    ]).default('WithErrors'),
    codes: list('Codes (Xid) of the errors that count. Empty: all codes.', int('A code.', [0, 9999]), [
      0,
      MAX_CODES,
    ]).default([]),
  },
);

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
