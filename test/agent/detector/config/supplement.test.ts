import { describe, expect, it } from 'vitest';
import { readLogMonitor } from '../../../../src/agent/detector/config/log-monitor.ts';
import { readPluginMonitor } from '../../../../src/agent/detector/config/plugin-monitor.ts';
import { readSupplement } from '../../../../src/agent/detector/config/supplement.ts';
import { kernelMonitor, pluginMonitor } from '../../../support/agent/detector-config.ts';

const window = { reason: 'DockerHung', count: 3, windowSeconds: 300 };
const clear = { type: 'ReadonlyFilesystem', clearAfter: '10m' };

describe('supplement', () => {
  it('adds windows to rules and a time after which a condition clears', () => {
    const monitor = apply({ conditions: [clear], rules: [window] });
    expect(monitor.conditions.map(({ clearAfterMs }) => clearAfterMs)).toEqual([undefined, 600_000]);
    expect(monitor.rules.map((rule) => rule.window)).toEqual([
      undefined,
      undefined,
      { count: 3, windowMs: 300_000 },
      undefined,
      undefined,
    ]);
  });

  it.each([
    [{ rules: [{ ...window, reason: 'TaskHung' }] }, 'the monitor has no permanent rule TaskHung'],
    [{ rules: [{ ...window, count: 0 }] }, 'count: expected an integer from 1 to 1000, got 0'],
    [{ rules: [{ ...window, windowSeconds: 1.5 }] }, 'windowSeconds: expected an integer'],
    [{ conditions: [{ ...clear, type: 'Other' }] }, 'the monitor has no condition Other'],
    [{ conditions: [{ type: 'KernelDeadlock' }] }, 'clearAfter: required'],
    [
      { conditions: [{ ...clear, type: 'KernelDeadlock' }], rules: [window] },
      'is cleared by the window of its rule',
    ],
    [{ rulez: [] }, 'unknown field rulez'],
  ])('refuses %j', (change, problem) => {
    expect(() => apply(change)).toThrow(problem);
  });

  it('is not for plug-ins, which clear their conditions themselves', () => {
    const supplement = readSupplement({ source: 'ntp-monitor' });
    expect(() => supplement.apply(readPluginMonitor(pluginMonitor, 'ntp.json'))).toThrow(
      'ntp.json has plug-ins',
    );
  });
});

function apply(fields: object): ReturnType<ReturnType<typeof readSupplement>['apply']> {
  return readSupplement({ source: 'kernel-monitor', ...fields }).apply(readLogMonitor(kernelMonitor, ''));
}
