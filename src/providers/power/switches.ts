/** Opens the power switch of a machine: that of its instance at the provider, or that of its BMC. */
import type { PowerSwitches } from '../power.ts';
import type { OpenProviders } from '../registry.ts';
import { openInstanceSwitch } from './instance-switch.ts';

export interface PowerSwitchParts {
  /** Returns the providers that this process opened. */
  readonly providers: () => OpenProviders;
}

export function createPowerSwitches({ providers }: PowerSwitchParts): PowerSwitches {
  return {
    open: async (machine, way) =>
      way === 'Provider'
        ? openInstanceSwitch(machine, providers())
        : { because: `Machine ${machine.metadata.name} has no BMC` },
  };
}
